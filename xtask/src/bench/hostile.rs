//! Profiles whose shape makes a careless program slow or overflows its stack.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use super::inputs;
use crate::failure::Failure;
use crate::workspace;

#[derive(Debug, Clone, Copy)]
pub(super) enum Hostile {
    /// One function calls all the others.
    Callees,
    /// Each function calls the next one.
    Chain,
    /// As `Chain`, and the last function calls the first: all are one cycle.
    Ring,
}

impl Hostile {
    pub(super) const ALL: [Hostile; 3] = [Hostile::Callees, Hostile::Chain, Hostile::Ring];

    pub(super) fn name(self) -> &'static str {
        match self {
            Hostile::Callees => "callees",
            Hostile::Chain => "chain",
            Hostile::Ring => "ring",
        }
    }

    /// Returns the path of such a profile, which it generates if needed.
    pub(super) fn generated(self, calls: u64) -> Result<PathBuf, Failure> {
        inputs::kept(&format!("{}-{calls}-v1", self.name()), |path| {
            workspace::write_whole(path, |file| Ok(self.write(file, calls)?))
        })
    }

    fn write(self, file: &mut File, calls: u64) -> io::Result<()> {
        let mut out = BufWriter::new(file);
        writeln!(out, "# callgrind format\nversion: 1\npositions: line\nevents: Ir\n\nfl=(1) hostile.c")?;
        match self {
            Hostile::Callees => {
                writeln!(out, "fn=(0) calls_all\n1 1")?;
                for callee in 1..=calls {
                    writeln!(out, "cfn=({callee}) callee_{callee}\ncalls=1 {callee}\n{callee} 2")?;
                }
                for callee in 1..=calls {
                    writeln!(out, "\nfn=({callee})\n{callee} 2")?;
                }
            }
            Hostile::Chain | Hostile::Ring => {
                for caller in 0..calls {
                    let callee = caller + 1;
                    // The cost of all functions below, 1 each.
                    let cost = calls - caller;
                    writeln!(out, "\nfn=({caller}) link_{caller}\n{caller} 1")?;
                    writeln!(out, "cfn=({callee}) link_{callee}\ncalls=1 {callee}\n{caller} {cost}")?;
                }
                writeln!(out, "\nfn=({calls})\n{calls} 1")?;
                if matches!(self, Hostile::Ring) {
                    writeln!(out, "cfn=(0)\ncalls=1 0\n{calls} 1")?;
                }
            }
        }
        out.into_inner()?.sync_all()
    }
}

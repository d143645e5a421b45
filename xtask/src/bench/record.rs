//! `cargo xtask bench record`: the time that programs take alone, under the native engine, and under Callgrind, in turn.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::rounds::{Contender, measure};
use super::{RecordBenchOptions, process, table};
use crate::failure::{Context as _, Failure};

/// Nine programs, by their words. They read `large`, or what is written beside it. `true` shows what the start takes. The others run for
/// some tenths of a second or more: the time of shorter ones is mostly that of the start, and of translation.
const COMMANDS: [(&str, &[&str]); 9] = [
    ("bzip2", &["bzip2", "-c", "large"]),
    ("gzip", &["gzip", "-c", "large"]),
    ("xz", &["xz", "-1", "-T1", "-c", "large"]),
    ("sqlite3", &["sqlite3", ":memory:", ".read program.sql"]),
    ("perl", &["perl", "program.pl"]),
    ("CPython", &["/usr/bin/python3", "-S", "program.py"]),
    ("sort", &["sort", "--parallel=1", "large"]),
    ("cc1", &["cc1", "-quiet", "-O2", "-o", "program.s", "program.c"]),
    ("true", &["true"]),
];

const SQL: &str = "\
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) INSERT INTO t SELECT i, 'row ' || (i * 7919%10007), i / 7.0 FROM n;
CREATE INDEX u ON t(b);
SELECT count(*), sum(length(b)), round(avg(c), 3) FROM t WHERE b > 'row 5';
SELECT b, count(*) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 5;
";

const PERL: &str = "\
my (%h, $n);
for my $i (1 .. 900000) { my $w = 'w' . ($i * 7919%10007); $h{$w} += $i; $n++ if $w =~ /^w(\\d)\\1/; }
print scalar(keys %h), ' ', $n, \"\\n\";
";

const PYTHON: &str = "\
import json
class Node:
    def __init__(self, value): self.value, self.next = value, None
for turn in range(28):
    nodes = [Node(i * 7919%10007) for i in range(10000)]
    text = json.dumps([{'value': node.value, 'name': 'n%d' % node.value} for node in nodes])
    total = sum(row['value'] for row in json.loads(text)) + len(sorted(nodes, key=lambda node: node.value))
print(total)
";

pub(super) fn run(options: &RecordBenchOptions) -> Result<(), Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => process::gristmill()?,
    };
    let folder = std::env::temp_dir().join(format!("bench-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder).context(|| format!("cannot make {}", folder.display()))?;
    write_files(&folder, options.size)?;
    let mut rows = vec![["program", "alone, s", "native engine", "Callgrind"].map(str::to_owned).to_vec()];
    let mut means = [Mean::default(), Mean::default()];
    let has_valgrind = process::is_on_path("valgrind") && !options.skips_callgrind;
    for (name, words) in COMMANDS {
        if options.only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let Some(found) = path_of(words[0]) else {
            println!("{name} is not installed");
            continue;
        };
        let command = |engine: Option<&str>| {
            let mut command =
                Command::new(if engine.is_some() { program.as_path() } else { found.as_path() });
            if let Some(engine) = engine {
                command
                    .args(["record", "--engine", engine, "-q", "--force", "-o", "profile.out", "--"])
                    .arg(&found);
            }
            command
                .args(&words[1..])
                .current_dir(&folder)
                .env("PYTHONHASHSEED", "0")
                .env("PERL_HASH_SEED", "0");
            command
        };
        let engines = [None, Some("native"), has_valgrind.then_some("valgrind")];
        let contenders =
            engines.into_iter().enumerate().filter(|(index, engine)| *index == 0 || engine.is_some());
        let contenders = contenders.map(|(_, engine)| Contender {
            name: engine.unwrap_or("alone").to_owned(),
            once: Box::new(move || Ok(process::measure_silent(command(engine))?.whole)),
        });
        let measured = measure(contenders.collect(), options.rounds)?;
        let seconds: Vec<f64> = measured.iter().map(|measured| measured.best.as_secs_f64()).collect();
        let mut row = vec![name.to_owned(), format!("{:.3}", seconds[0])];
        // The factor of a program that does nothing says only what the start takes.
        let is_start = name == "true";
        for (index, time) in seconds[1..].iter().enumerate() {
            let factor = time / seconds[0];
            row.push(if is_start { format!("{:.0} ms", time * 1000.0) } else { format!("{factor:.1}x") });
            if !is_start {
                means[index].add(factor);
            }
        }
        println!("{}", row.join("  "));
        rows.push(row);
    }
    let _ = std::fs::remove_dir_all(&folder);
    rows.push(vec!["geometric mean".to_owned(), String::new(), means[0].shown(), means[1].shown()]);
    table::print(&rows);
    Ok(())
}

/// A geometric mean.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, factor: f64) {
        self.sum += factor.ln();
        self.count += 1.0;
    }

    fn shown(&self) -> String {
        if self.count == 0.0 { String::new() } else { format!("{:.1}x", (self.sum / self.count).exp()) }
    }
}

/// Returns the path of a program. The compiler knows where its own ones are.
fn path_of(name: &str) -> Option<PathBuf> {
    if name != "cc1" {
        return process::find(name);
    }
    let output = Command::new("gcc").arg("-print-prog-name=cc1").output().ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    path.is_absolute().then_some(path)
}

fn write_files(folder: &Path, size: u64) -> Result<(), Failure> {
    let mut state = 88_172_645_463_325_252u64;
    let mut large = String::new();
    while (large.len() as u64) < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = writeln!(
            large,
            "{:05} {} {:x}",
            state % 40_000,
            ["grind", "mill", "stone", "flour"][(state >> 20) as usize % 4],
            state >> 44
        );
    }
    let mut code = String::new();
    for index in 0..400 {
        let _ = writeln!(
            code,
            "int f{index}(int *a, int n) {{ int s = {index}; for (int i = 0; i < n; i++) {{ if (a[i] % {} == 0) s += a[i] * i; else a[i] ^= s; }} return s; }}",
            index + 2
        );
    }
    let files: [(&str, &str); 5] = [
        ("large", &large),
        ("program.sql", SQL),
        ("program.pl", PERL),
        ("program.py", PYTHON),
        ("program.c", &code),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::write(&path, content).context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

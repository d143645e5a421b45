//! The producer of a profile, recognised by its content: few producers name themselves.

use std::fmt;

/// A producer of profiles.
///
/// See the example of [`Survey`](crate::Survey).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// The program.
    pub kind: ProducerKind,
    /// The value of the `creator:` line, if there is one.
    pub creator: Option<String>,
}

/// The known producers.
///
/// See the example of [`Survey`](crate::Survey).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProducerKind {
    /// Valgrind's Callgrind, and the engine of Gristmill that measures the same.
    Callgrind,
    /// Valgrind's Cachegrind.
    Cachegrind,
    /// `cg_diff`: the difference of two Cachegrind files.
    CgDiff,
    /// Valgrind's memory tools, with `--xtree-memory` or `--xtree-leak`.
    XTree,
    /// Xdebug.
    Xdebug,
    /// Go's pprof.
    GoPprof,
    /// The pprof script of gperftools.
    Gperftools,
    /// ruby-prof.
    RubyProf,
    /// stackprof.
    Stackprof,
    /// rbspy.
    Rbspy,
    /// phpspy.
    Phpspy,
    /// reli.
    Reli,
    /// php-memory-profiler.
    Memprof,
    /// NYTProf's nytprofcg.
    Nytprof,
    /// pyprof2calltree.
    Pyprof2calltree,
    /// lsprofcalltree, the older converter of Python's own profiles.
    Lsprofcalltree,
    /// yappi.
    Yappi,
    /// pprofile.
    Pprofile,
    /// GNU make's debugger.
    Remake,
    /// KLEE.
    Klee,
    /// erlgrind.
    Erlgrind,
    /// Orbuculum, which traces microcontrollers.
    Orbuculum,
    /// php-spx, up to 2018.
    Spx,
    /// One of the small converters that came with KCachegrind.
    KcachegrindConverter,
    /// Another that has given its name.
    Named,
    /// Nobody knows.
    Unknown,
}

impl ProducerKind {
    /// The name that it goes by.
    pub fn as_str(self) -> &'static str {
        match self {
            ProducerKind::Callgrind => "Callgrind",
            ProducerKind::Cachegrind => "Cachegrind",
            ProducerKind::CgDiff => "cg_diff",
            ProducerKind::XTree => "Valgrind XTree",
            ProducerKind::Xdebug => "Xdebug",
            ProducerKind::GoPprof => "Go pprof",
            ProducerKind::Gperftools => "gperftools",
            ProducerKind::RubyProf => "ruby-prof",
            ProducerKind::Stackprof => "stackprof",
            ProducerKind::Rbspy => "rbspy",
            ProducerKind::Phpspy => "phpspy",
            ProducerKind::Reli => "reli",
            ProducerKind::Memprof => "php-memory-profiler",
            ProducerKind::Nytprof => "NYTProf",
            ProducerKind::Pyprof2calltree => "pyprof2calltree",
            ProducerKind::Yappi => "yappi",
            ProducerKind::Pprofile => "pprofile",
            ProducerKind::Remake => "remake",
            ProducerKind::Klee => "KLEE",
            ProducerKind::Lsprofcalltree => "lsprofcalltree",
            ProducerKind::Erlgrind => "erlgrind",
            ProducerKind::Orbuculum => "Orbuculum",
            ProducerKind::Spx => "php-spx",
            ProducerKind::KcachegrindConverter => "a converter of KCachegrind",
            ProducerKind::Named => "named",
            ProducerKind::Unknown => "unknown",
        }
    }

    /// The way its profiles are recorded; `None` if the producer leaves that open, or is not known.
    pub fn recording(self) -> Option<Recording> {
        match self {
            ProducerKind::Callgrind
            | ProducerKind::Cachegrind
            | ProducerKind::RubyProf
            | ProducerKind::Nytprof
            | ProducerKind::Pyprof2calltree
            | ProducerKind::Lsprofcalltree
            | ProducerKind::Yappi
            | ProducerKind::Remake
            | ProducerKind::Klee
            | ProducerKind::Erlgrind
            | ProducerKind::Orbuculum => Some(Recording::Aggregated),
            ProducerKind::Xdebug | ProducerKind::Spx => Some(Recording::PerInvocation),
            ProducerKind::GoPprof
            | ProducerKind::Gperftools
            | ProducerKind::Stackprof
            | ProducerKind::Rbspy
            | ProducerKind::Phpspy
            | ProducerKind::Reli => Some(Recording::Sampled),
            ProducerKind::XTree | ProducerKind::Memprof => Some(Recording::PerCallPath),
            ProducerKind::CgDiff => Some(Recording::Difference),
            // pprofile counts or samples, as its options say, and writes the same.
            ProducerKind::Pprofile
            | ProducerKind::KcachegrindConverter
            | ProducerKind::Named
            | ProducerKind::Unknown => None,
        }
    }

    /// `true` if it samples: then call counts are samples, estimates or nothing, and a cost per call means nothing.
    pub fn is_sampled(self) -> bool {
        self.recording() == Some(Recording::Sampled)
    }

    /// `true` if it writes one block for each invocation, so that the whole call tree is in the file.
    pub fn is_per_invocation(self) -> bool {
        self.recording() == Some(Recording::PerInvocation)
    }
}

/// The way a profile was recorded, which decides what its numbers mean.
///
/// See the example of [`Survey`](crate::Survey).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recording {
    /// Everything was counted, and summed up for each function and call.
    Aggregated,
    /// Everything was counted, and each invocation of a function has a block of its own.
    PerInvocation,
    /// Now and then somebody looked: costs are estimates, and counts of calls are samples, guesses or nothing.
    Sampled,
    /// Everything was counted, and a function has a block for each way that led to it.
    PerCallPath,
    /// One profile minus another.
    Difference,
}

impl Recording {
    /// `aggregated`, `per-invocation`, `sampled`, `per-call-path` or `difference`.
    pub fn as_str(self) -> &'static str {
        match self {
            Recording::Aggregated => "aggregated",
            Recording::PerInvocation => "per-invocation",
            Recording::Sampled => "sampled",
            Recording::PerCallPath => "per-call-path",
            Recording::Difference => "difference",
        }
    }
}

impl fmt::Display for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.creator, self.kind) {
            (Some(creator), _) => f.write_str(creator),
            (None, kind) => f.write_str(kind.as_str()),
        }
    }
}

/// The evidence of a file that tells its producer.
///
/// A loader fills it from what it reads anyway; [`Survey`](crate::Survey) does the same for a whole file.
///
/// ```
/// use gristmill_format::{ProducerEvidence, ProducerKind};
///
/// let evidence = ProducerEvidence { event: Some(b"Hits"), ..ProducerEvidence::default() };
/// assert_eq!(evidence.kind(), ProducerKind::Gperftools);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ProducerEvidence<'a> {
    /// The value of the first `creator:` line.
    pub creator: Option<&'a [u8]>,
    /// The value of the first `version:` line.
    pub version: Option<&'a [u8]>,
    /// The value of the first `cmd:` line.
    pub command: Option<&'a [u8]>,
    /// The first event type.
    pub event: Option<&'a [u8]>,
    /// The first long name of an `event:` line.
    pub long_name: Option<&'a [u8]>,
    /// The kind of the first `desc:` line.
    pub description: Option<&'a [u8]>,
    /// Positions have addresses.
    pub has_addresses: bool,
    /// Source lines come before addresses, which no version of the format allows.
    pub has_lines_first: bool,
    /// There are calls.
    pub has_calls: bool,
    /// The first `fl=` name.
    pub first_file: Option<&'a [u8]>,
    /// The first `ob=` name.
    pub first_object: Option<&'a [u8]>,
    /// The first `fn=` name.
    pub first_function: Option<&'a [u8]>,
    /// There is a line that Xdebug writes between profiles.
    pub has_new_profile: bool,
}

impl ProducerEvidence<'_> {
    /// Returns the producer.
    pub fn kind(&self) -> ProducerKind {
        kind(self)
    }
}

pub(crate) fn producer(evidence: &ProducerEvidence<'_>) -> Producer {
    Producer {
        kind: kind(evidence),
        creator: evidence.creator.map(|creator| String::from_utf8_lossy(creator).into_owned()),
    }
}

fn kind(evidence: &ProducerEvidence<'_>) -> ProducerKind {
    const BY_CREATOR: [(&[u8], ProducerKind); 14] = [
        (b"callgrind-", ProducerKind::Callgrind),
        // It writes the same numbers with the same names.
        (b"gristmill-engine-", ProducerKind::Callgrind),
        (b"xtree-", ProducerKind::XTree),
        (b"xdebug", ProducerKind::Xdebug),
        (b"stackprof", ProducerKind::Stackprof),
        (b"rbspy", ProducerKind::Rbspy),
        (b"phpspy", ProducerKind::Phpspy),
        (b"reli", ProducerKind::Reli),
        (b"yappi", ProducerKind::Yappi),
        (b"pprofile", ProducerKind::Pprofile),
        (b"remake", ProducerKind::Remake),
        (b"klee", ProducerKind::Klee),
        (b"ruby-prof", ProducerKind::RubyProf),
        (b"pyprof2calltree", ProducerKind::Pyprof2calltree),
    ];
    /// The first event type, and what its long name begins with.
    const BY_EVENT: [(&[u8], &[u8], ProducerKind); 8] = [
        (b"Memory_Size_(bytes)", b"", ProducerKind::Memprof),
        (b"ns", b"Nanoseconds", ProducerKind::Pyprof2calltree),
        (b"hits", b"microseconds/hit", ProducerKind::Pprofile),
        (b"wall_time", b"", ProducerKind::RubyProf),
        (b"process_time", b"", ProducerKind::RubyProf),
        (b"allocations", b"", ProducerKind::RubyProf),
        (b"memory", b"", ProducerKind::RubyProf),
        (b"Hits", b"", ProducerKind::Gperftools),
    ];
    if let Some(creator) = evidence.creator {
        return BY_CREATOR
            .iter()
            .find(|(name, _)| creator.len() >= name.len() && creator[..name.len()].eq_ignore_ascii_case(name))
            .map_or(ProducerKind::Named, |&(_, kind)| kind);
    }
    let event = evidence.event.unwrap_or_default();
    let begins = |text: Option<&[u8]>, with: &[u8]| text.is_some_and(|text| text.starts_with(with));
    let ends = |text: Option<&[u8]>, with: &[&[u8]]| {
        text.is_some_and(|text| with.iter().any(|ending| text.ends_with(ending)))
    };
    if evidence.version == Some(b"0.9.6")
        || evidence.has_new_profile
        || begins(evidence.first_function, b"php::")
    {
        ProducerKind::Xdebug
    } else if begins(evidence.description, b"Files compared") {
        ProducerKind::CgDiff
    } else if begins(evidence.description, b"I1 cache")
        || evidence.command.is_some() && !evidence.has_calls && event == b"Ir"
    {
        ProducerKind::Cachegrind
    } else if evidence.has_addresses && event.ends_with(b")") && memchr::memchr(b'(', event).is_some() {
        ProducerKind::GoPprof
    } else if let Some((.., kind)) = BY_EVENT
        .into_iter()
        .find(|(name, long, _)| event == *name && (long.is_empty() || begins(evidence.long_name, long)))
    {
        kind
    } else if evidence.has_lines_first {
        ProducerKind::Orbuculum
    } else if event == b"wt" && evidence.long_name.is_some() {
        ProducerKind::Spx
    } else if event == b"Tick" {
        ProducerKind::KcachegrindConverter
    } else if event == b"Time"
        && (begins(evidence.first_object, b"<") || begins(evidence.first_function, b"{"))
    {
        ProducerKind::Erlgrind
    } else if event == b"Ticks" && ends(evidence.first_file, &[b".pl", b".pm"]) {
        ProducerKind::Nytprof
    } else if event == b"Ticks"
        && (begins(evidence.first_function, b"<")
            || evidence.first_file == Some(b"~")
            || ends(evidence.first_file, &[b".py"]))
    {
        ProducerKind::Lsprofcalltree
    } else {
        ProducerKind::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_of_gristmill_counts_as_callgrind() {
        for (creator, expected) in [
            (&b"gristmill-engine-0.1.0"[..], ProducerKind::Callgrind),
            (b"callgrind-3.19.0", ProducerKind::Callgrind),
            (b"gristmill", ProducerKind::Named),
        ] {
            let evidence = ProducerEvidence { creator: Some(creator), ..ProducerEvidence::default() };
            assert_eq!(evidence.kind(), expected);
        }
    }
}

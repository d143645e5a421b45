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
    /// Valgrind's Callgrind.
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

/// The traits by which a producer is recognised.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits<'a> {
    pub(crate) creator: Option<&'a [u8]>,
    pub(crate) version: Option<&'a [u8]>,
    pub(crate) command: Option<&'a [u8]>,
    /// The first event type.
    pub(crate) event: Option<&'a [u8]>,
    /// The long name of the first `event:` line.
    pub(crate) long_name: Option<&'a [u8]>,
    /// The kind of the first `desc:` line.
    pub(crate) description: Option<&'a [u8]>,
    pub(crate) has_addresses: bool,
    /// Source lines come before addresses, which no version of the format allows.
    pub(crate) has_lines_first: bool,
    pub(crate) has_calls: bool,
    pub(crate) first_file: Option<&'a [u8]>,
    pub(crate) first_object: Option<&'a [u8]>,
    pub(crate) first_function: Option<&'a [u8]>,
    pub(crate) has_new_profile: bool,
}

pub(crate) fn producer(traits: &Traits<'_>) -> Producer {
    Producer {
        kind: kind(traits),
        creator: traits.creator.map(|creator| String::from_utf8_lossy(creator).into_owned()),
    }
}

fn kind(traits: &Traits<'_>) -> ProducerKind {
    const BY_CREATOR: [(&[u8], ProducerKind); 13] = [
        (b"callgrind-", ProducerKind::Callgrind),
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
    if let Some(creator) = traits.creator {
        return BY_CREATOR
            .iter()
            .find(|(name, _)| creator.len() >= name.len() && creator[..name.len()].eq_ignore_ascii_case(name))
            .map_or(ProducerKind::Named, |&(_, kind)| kind);
    }
    let event = traits.event.unwrap_or_default();
    let begins = |text: Option<&[u8]>, with: &[u8]| text.is_some_and(|text| text.starts_with(with));
    let ends = |text: Option<&[u8]>, with: &[&[u8]]| {
        text.is_some_and(|text| with.iter().any(|ending| text.ends_with(ending)))
    };
    if traits.version == Some(b"0.9.6") || traits.has_new_profile || begins(traits.first_function, b"php::") {
        ProducerKind::Xdebug
    } else if begins(traits.description, b"Files compared") {
        ProducerKind::CgDiff
    } else if begins(traits.description, b"I1 cache")
        || traits.command.is_some() && !traits.has_calls && event == b"Ir"
    {
        ProducerKind::Cachegrind
    } else if traits.has_addresses && event.ends_with(b")") && memchr::memchr(b'(', event).is_some() {
        ProducerKind::GoPprof
    } else if let Some((.., kind)) = BY_EVENT
        .into_iter()
        .find(|(name, long, _)| event == *name && (long.is_empty() || begins(traits.long_name, long)))
    {
        kind
    } else if traits.has_lines_first {
        ProducerKind::Orbuculum
    } else if event == b"wt" && traits.long_name.is_some() {
        ProducerKind::Spx
    } else if event == b"Tick" {
        ProducerKind::KcachegrindConverter
    } else if event == b"Time" && (begins(traits.first_object, b"<") || begins(traits.first_function, b"{")) {
        ProducerKind::Erlgrind
    } else if event == b"Ticks" && ends(traits.first_file, &[b".pl", b".pm"]) {
        ProducerKind::Nytprof
    } else if event == b"Ticks"
        && (begins(traits.first_function, b"<")
            || traits.first_file == Some(b"~")
            || ends(traits.first_file, &[b".py"]))
    {
        ProducerKind::Lsprofcalltree
    } else {
        ProducerKind::Unknown
    }
}

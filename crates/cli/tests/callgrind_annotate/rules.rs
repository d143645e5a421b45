//! The intended differences between gristmill and callgrind_annotate.

/// One documented difference; `docs/annotate-differences.md` has a chapter for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Annotated files come in the order of their names.
    Order,
    /// All parts of a file count, with their events, positions and sums.
    Parts,
    /// The cost of a call with count 0 is not self cost of the caller.
    ZeroCalls,
    /// Lines are relative to the last line that moves the base.
    Drift,
    /// Behind a call, Callgrind goes back to the file of the last self cost.
    FileOfCall,
    /// The working folder is taken off the names of callees' files as off others.
    WorkingFolder,
    /// A line shows the calls of all functions that it is part of.
    CallRows,
    /// Calls that were made from inlined code are calls of the function.
    Inlining,
    /// Nothing that calls itself costs more than there is.
    Recursion,
    /// There may be a column of basic blocks.
    BasicBlocks,
    /// A carriage return at the end of a line is no part of a name.
    CarriageReturns,
    /// The total is the sum of self costs, also with `--inclusive=yes`.
    InclusiveTotal,
    /// Several profiles make one.
    SeveralFiles,
    /// A name may be made of the numbers of others.
    MadeNames,
    /// `fn=` goes back to the file of the last `fl=`.
    FileOfFunction,
    /// The name of a source file is the whole text before the name of the function, and an empty one is no folder.
    FileName,
    /// A function that is only named is not listed.
    Definitions,
    /// A call without the location of its callee leads to the function that has lines.
    Callees,
    /// A packed profile is unpacked.
    Packed,
    /// Header lines count anywhere.
    Header,
    /// Lines that the original rejects as malformed, fails at, or misreads.
    Spelling,
}

impl Rule {
    pub(crate) const ALL: [Self; 21] = [
        Self::Order,
        Self::Parts,
        Self::ZeroCalls,
        Self::Drift,
        Self::FileOfCall,
        Self::WorkingFolder,
        Self::CallRows,
        Self::Inlining,
        Self::Recursion,
        Self::BasicBlocks,
        Self::CarriageReturns,
        Self::InclusiveTotal,
        Self::SeveralFiles,
        Self::MadeNames,
        Self::FileOfFunction,
        Self::FileName,
        Self::Definitions,
        Self::Callees,
        Self::Packed,
        Self::Header,
        Self::Spelling,
    ];
}

// Included by the target and by what makes inputs for it, `xtask/src/fuzz/programs.rs`.

/// The sections of debug information that an input of the target `code` has in turn.
const SECTIONS: [&str; 10] = [
    ".text",
    ".debug_abbrev",
    ".debug_info",
    ".debug_line",
    ".debug_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_aranges",
    ".eh_frame",
    ".debug_line_str",
];

/// The byte before each of them but the first.
const MARK: u8 = 0xa5;

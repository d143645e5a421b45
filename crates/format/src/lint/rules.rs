//! The rules, in one table.

use super::Severity;

/// One thing that lint looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The name, which stays the same from version to version.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What it leads to, and what to do.
    pub help: &'static str,
    /// Where it comes from: a clause of the specification, or what some reader does.
    pub clause: &'static str,
}

macro_rules! rules {
    ($($id:ident: $severity:ident $name:literal, $summary:literal, $help:literal, $clause:literal;)*) => {
        $(
            pub(crate) static $id: Rule = Rule {
                name: $name,
                severity: Severity::$severity,
                summary: $summary,
                help: $help,
                clause: $clause,
            };
        )*

        /// All rules, grouped by what they look at.
        pub static RULES: &[&Rule] = &[$(&$id),*];
    };
}

rules! {
    // The file as a whole.
    NOT_A_PROFILE: Error "not-a-profile",
        "the file is something else than a profile",
        "Nothing was read. Give the file that the profiler wrote, not a report made of it, and unpack or convert it first if need be.",
        "practice: readers look for `# callgrind format`, `events:` or `creator:` at the top";
    EMPTY_FILE: Warning "empty-file",
        "the file is empty",
        "Callgrind leaves an empty base file beside the real ones with --separate-threads=yes, after exec, and when it is killed. Look for files with the same name and a suffix such as -01.",
        "Grammar: PartData needs header and body lines";
    NO_EVENTS: Error "no-events",
        "there is no `events:` line",
        "Without it nobody can know what the costs are. Every part needs one, before its first cost.",
        "Header lines, `events:`: required exactly once in each part";
    NO_BODY: Note "no-body",
        "a part has a header but no cost",
        "This is what remains when nothing was measured (collection switched off, a thread that did nothing) or when the writer was stopped at once.",
        "Grammar: PartData needs body lines";
    TRUNCATED: Warning "truncated",
        "the file seems to be cut off",
        "Its producer ends each part with a line that is missing here. Costs that came after the cut are lost; record again.",
        "practice: Callgrind ends with `totals:`, Xdebug and Cachegrind with `summary:`";
    NO_FINAL_NEWLINE: Note "no-final-newline",
        "the last line has no line end",
        "Some readers drop the last line then, and it may be a sign that the file was cut.",
        "Grammar: every line ends with \\n";
    BYTE_ORDER_MARK: Warning "byte-order-mark",
        "the file begins with a byte order mark",
        "KCachegrind and callgrind_annotate take it for part of the first line. Save the file without it.",
        "Basic Structure: the format is ASCII based";
    COMPRESSED: Note "compressed-content",
        "compressed content that the file name does not show, or the reverse",
        "Readers that go by the name will fail. Name the file after its content.",
        "practice: Xdebug writes .gz names, with or without compression";
    DAMAGED_COMPRESSION: Error "damaged-compression",
        "the compressed file is cut off or damaged",
        "What could be unpacked was read; the rest is lost, so sums are too low.",
        "practice";
    SEVERAL_PROFILES: Note "several-profiles",
        "the file holds several profiles, one after another",
        "Xdebug writes `==== NEW PROFILING FILE ====` between profiles in append mode. Other readers stumble over that line, or mix up the name numbers that start afresh after it.",
        "practice: xdebug.profiler_append";

    // Lines.
    UNKNOWN_LINE: Error "unknown-line",
        "a line that nobody can read",
        "It is left out. If it was a cost line, its cost is missing from all sums.",
        "Grammar: HeaderLine, BodyLine";
    UNKNOWN_HEADER: Warning "unknown-header",
        "a header key that the format does not have",
        "Ignored. KCachegrind complains about it on its console.",
        "Header lines";
    UNKNOWN_BODY: Warning "unknown-body-line",
        "a body key that the format does not have",
        "Ignored, with all that it may have meant for the lines after it.",
        "Body lines";
    HIDDEN_OPTION: Note "hidden-option",
        "a line that Callgrind writes only with undocumented options",
        "`rec=`, `frfn=`, `bb=` and `ln=` come from --mangle-names=no and --dump-bbs=yes. KCachegrind skips them, and with `frfn=` the names that they define.",
        "practice: Callgrind, hidden options";
    KEY_CASE: Warning "key-case",
        "a key in capital letters",
        "Keys are written in small letters; other readers do not know this one. `gristmill rewrite --repair` mends it.",
        "Grammar: keys are literals";
    BLANK_BEFORE_SEPARATOR: Warning "blank-before-separator",
        "a blank between a key and its `=` or `:`",
        "Other readers do not know the key then. `gristmill rewrite --repair` mends it.",
        "Grammar: PositionSpec := Position \"=\"";
    BLANK_AFTER_EQUALS: Note "blank-after-equals",
        "a blank after `=`",
        "Allowed by the grammar; KCachegrind makes it part of the name.",
        "Grammar: PositionSpec := Position \"=\" Space* PositionName";
    LEADING_BLANK: Warning "leading-blank",
        "a line that begins with a blank",
        "KCachegrind drops such lines; some writers mean by it that a position is missing.",
        "Grammar: no line begins with Space";
    TRAILING_BLANK: Note "trailing-blank",
        "blanks at the end of a line where Callgrind writes none",
        "Harmless for numbers; at the end of a name they are part of it.",
        "Grammar: Costs := (Number Space+)+";
    EXTRA_BLANKS: Note "extra-blanks",
        "more than one blank between two numbers",
        "Allowed; cg_merge aligns its columns so.",
        "Grammar: Space+";
    TAB_SEPARATOR: Warning "tab-separator",
        "a tab between two numbers",
        "The grammar allows it, but KCachegrind takes all costs after a tab for 0.",
        "Grammar: Space := \" \" | \"\\t\"";
    LINE_END_CRLF: Note "line-end-crlf",
        "lines end with carriage return and line feed",
        "callgrind_annotate takes the carriage return for part of names and numbers.",
        "Grammar: lines end with \\n";
    LINE_END_MIXED: Note "line-end-mixed",
        "some lines end with a carriage return and others do not",
        "The file was put together from two, or an editor changed a part of it.",
        "Grammar: lines end with \\n";
    LINE_END_CR: Warning "line-end-cr",
        "lines end with a carriage return alone",
        "Other readers see one endless line.",
        "Grammar: lines end with \\n";
    NUL_BYTE: Warning "nul-byte",
        "a NUL byte",
        "KCachegrind never gets past it. PHP puts one into the names of anonymous classes.",
        "Basic Structure: the format is ASCII based";
    NOT_UTF8: Note "not-utf8",
        "text that is not UTF-8",
        "No encoding is stated, so each reader guesses; other tools show question marks, and strict ones refuse the file.",
        "Basic Structure: the format is ASCII based";
    BLANK_IN_BLOCK: Note "blank-in-block",
        "an empty line between a function and its costs or calls",
        "Allowed. Readers that take an empty line for the end of a function lose what follows.",
        "Grammar: BodyLine := (empty line)";
    COMMENT_IN_CALL: Note "comment-in-call",
        "a comment or an empty line between `calls=` and its cost line",
        "The grammar has the cost line directly after it.",
        "Grammar: CallSpec := CallLine \"\\n\" CostLine";

    // Header.
    NO_MARKER: Note "no-format-marker",
        "the first line is not `# callgrind format`",
        "Optional, but it is how file managers and viewers know the format.",
        "Header lines, `# callgrind format`";
    NO_VERSION: Note "no-version",
        "there is no `version:` line",
        "Optional; version 1 is assumed.",
        "Header lines, `version:`";
    NO_CREATOR: Note "no-creator",
        "there is no `creator:` line",
        "Optional, but what relative positions are relative to depends on who wrote the file.",
        "Header lines, `creator:`";
    NO_POSITIONS: Note "no-positions",
        "there is no `positions:` line",
        "Optional; one column with line numbers is assumed.",
        "Header lines, `positions:`";
    UNKNOWN_VERSION: Warning "unknown-version",
        "a version other than 1",
        "The file is read as version 1. Xdebug before 2.2 wrote 0.9.6.",
        "Grammar: FormatVersion := \"version: 1\"";
    LATE_VERSION: Note "late-version",
        "`version:` or `creator:` in the middle of the file",
        "Callgrind repeats the whole header for each thread of a combined dump; other writers append whole profiles.",
        "Grammar: FormatVersion and Creator stand once, at the top";
    HEADER_AFTER_EVENTS: Note "header-after-events",
        "a header line after `events:`",
        "callgrind_annotate takes `events:` for the end of the header and stops at the next header line.",
        "Long Names: the order of `event:` and `events:` is of no importance";
    HEADER_IN_BODY: Warning "header-in-body",
        "a header line after the first cost",
        "It belongs before the body. callgrind_annotate stops at it.",
        "Grammar: PartData := HeaderLine+ BodyLine+";
    SUMMARY_IN_BODY: Warning "summary-in-body",
        "`summary:` between costs",
        "It belongs into the header. Xdebug before 2.6 writes it between `fn=` and its cost.",
        "Header lines, `summary:`";
    SUMMARY_AT_END: Note "summary-at-end",
        "`summary:` after the body",
        "Cachegrind and Xdebug put it there; the specification has it in the header.",
        "Header lines, `summary:`";
    TOTALS_KEY: Warning "totals-key",
        "`total:` or `totals=` in place of `totals:`",
        "Read as `totals:`. Other readers do not know it.",
        "Header lines, `totals:`";
    TOTALS_EARLY: Warning "totals-early",
        "`totals:` before the body",
        "It should stand at the end, so that a reader can check what it has read.",
        "Header lines, `totals:`";
    BODY_AFTER_TOTALS: Warning "body-after-totals",
        "costs after `totals:`",
        "They are counted to the same part, whose totals cannot be right then.",
        "Header lines, `totals:`: at the end";
    DUPLICATE_HEADER: Warning "duplicate-header",
        "a header line that stands twice in one part",
        "The last one holds here; other readers may keep the first or begin another part.",
        "Header lines, `events:`: exactly once in each part";
    DUPLICATE_PART: Warning "duplicate-part",
        "two parts with the same process, part and thread",
        "Their costs are summed. If the file was put together from copies, they are counted twice.",
        "Header lines, `part:`";
    BAD_HEADER: Warning "bad-header-value",
        "a header value that its key does not allow",
        "The line is ignored.",
        "Grammar: PartDetail, Description, EventSpecification";
    DESC_WITHOUT_KIND: Note "desc-without-kind",
        "`desc:` without a second colon",
        "The specification has `desc: kind: value`.",
        "Header lines, `desc:`";
    POSITIONS_ORDER: Warning "positions-order",
        "`positions:` in another order than `instr`, `bb`, `line`",
        "KCachegrind does not look at the order and takes lines for addresses.",
        "Header lines, `positions:`: in this order";
    POSITIONS_BB: Warning "positions-bb",
        "a `bb` position column",
        "Callgrind writes it with --dump-bb=yes. KCachegrind does not know it and reads the wrong columns.",
        "Header lines, `positions:`";
    UNKNOWN_POSITION: Error "unknown-position",
        "a kind of position that nobody knows",
        "The column is read and ignored. If the cost lines have no such column, the first cost is taken for a position.",
        "Header lines, `positions:`";
    POSITIONS_CHANGE: Note "positions-change",
        "a part has other position columns than the one before",
        "Allowed.",
        "Header lines, `positions:`";
    EVENTS_CHANGE: Note "events-change",
        "a part has other event types than the one before",
        "Allowed. They are matched by name, not by place; some readers go by place.",
        "Header lines, `events:`";
    DUPLICATE_EVENT: Error "duplicate-event",
        "an event type that stands twice on the `events:` line",
        "Readers that go by name lose one of the two columns, or add them.",
        "Header lines, `events:`";
    EVENT_NAME: Warning "event-name",
        "an event name with other characters than letters and digits",
        "Xdebug, pprof and others do it to tell the unit. KCachegrind shows it but cannot use it in formulas.",
        "Grammar: Name := Alpha (Digit | Alpha)*";
    EVENT_WITHOUT_COLON: Warning "event-without-colon",
        "`event:` with a long name but no colon before it",
        "The rest of the line is taken for the long name; KCachegrind ignores it.",
        "Grammar: LongNameDef := \":\" NoNewLineChar*";
    EVENT_FORMULA: Warning "event-formula",
        "a formula that leads nowhere",
        "It uses itself, or an event type that there is not. The derived type is left out.",
        "Long Names for Event Types and inherited Types";
    EVENT_FORMULA_SYNTAX: Note "event-formula-syntax",
        "a formula that the grammar does not allow",
        "The grammar has names with factors, joined by `+`. KCachegrind takes `-` as well.",
        "Grammar: InheritedExpr";

    // Names.
    UNDEFINED_NAME: Error "undefined-name",
        "a name number that was not defined before",
        "The name is unknown, so these costs cannot be told from those of other unknown names.",
        "Name Compression: \"spec=(ID)\" refers to a previously defined mapping";
    REDEFINED_NAME: Warning "redefined-name",
        "a name number that gets another meaning within one part",
        "The new meaning holds from here on. KCachegrind complains; two functions may become one.",
        "Name Compression: the alias holds from this line to the end of the file";
    RENUMBERED_NAMES: Note "renumbered-names",
        "a later part gives name numbers another meaning",
        "Each part is read with its own meanings. Readers with one table for the file mix them up.",
        "Name Compression: the alias holds from this line to the end of the file";
    UNCLOSED_NAME_ID: Warning "unclosed-name-number",
        "a name that begins with `(` and a digit, and has no `)`",
        "Taken as it stands. A name that begins so has to be written compressed.",
        "Body lines: names never start with \"(\" and a digit";
    ODD_NAME_NUMBER: Warning "odd-name-number",
        "parentheses at the beginning of a name that hold something like a number",
        "Only `(digits)` is a number; this is taken for part of the name.",
        "Grammar: PositionName := ( \"(\" Number \")\" )?";
    HEX_NAME_NUMBER: Warning "hexadecimal-name-number",
        "a name number in hexadecimal",
        "The grammar allows it; KCachegrind reads 0, callgrind_annotate takes it for a name.",
        "Grammar: Number := HexNumber | (Digit)+";
    NAME_NUMBER_ZERO: Note "name-number-zero",
        "a name with the number 0",
        "Allowed; Callgrind numbers functions from 0, other writers from 1.",
        "Name Compression";
    AMBIGUOUS_NAME: Note "ambiguous-name",
        "a number that is defined once and never used",
        "It might be a plain name that begins with a number in parentheses; nobody can tell.",
        "Body lines: names never start with \"(\" and a digit";
    PARENTHESIS_NAME: Note "parenthesis-name",
        "a plain name that begins with `(`",
        "Allowed when no digit follows, as in `(below main)`.",
        "Body lines: names never start with \"(\" and a digit";
    EMPTY_NAME: Note "empty-name",
        "an empty name",
        "Shown as unknown. All empty names become one.",
        "Body lines, position names";
    NAME_MANY_NUMBERS: Note "name-with-many-numbers",
        "many numbers for one and the same name",
        "Taken as one name. The writer has probably numbered uses instead of names.",
        "Name Compression";
    CONTROL_IN_NAME: Warning "control-in-name",
        "a control character in a name",
        "Shown on a terminal as it is, it can do anything; here it is shown escaped.",
        "Basic Structure: the format is ASCII based";
    MARKUP_IN_NAME: Note "markup-in-name",
        "HTML in a name",
        "Viewers that do not escape names would run it.",
        "practice";
    ESCAPE_IN_NAME: Note "escape-in-name",
        "`\\n` in a name",
        "The format has no escapes in names: these are a backslash and an n. Callgrind writes them in `cmd:` only.",
        "Grammar: PositionName";
    PATH_LEAVES_TREE: Note "path-leaves-tree",
        "a source path that leads out of the directory it starts from",
        "It is used for reading sources only where sources are asked for.",
        "practice";
    DEVICE_PATH: Warning "device-path",
        "a source path that names a device",
        "Tools that open it for the source text may never come back.",
        "practice";
    CALLEE_NAMED_TWICE: Warning "callee-named-twice",
        "two `cfn=` lines for one `calls=` line",
        "The last one holds.",
        "Body lines, `cfn=`";
    CALLEE_ORDER: Note "callee-order",
        "`cfn=` before the `cfi=` or `cob=` that belongs to it",
        "The callee is put together when `calls=` comes, as KCachegrind does. Readers that do so at `cfn=` get the wrong file.",
        "Associations";
    FUNCTION_BEFORE_FILE: Note "function-before-file",
        "`fn=` before the `fl=` that belongs to it",
        "The file counts for the function when no cost stands between. KCachegrind gives it the file before.",
        "Body lines, `fl=`";
    BARE_DEFINITIONS: Note "bare-definitions",
        "functions that are only named, to define their numbers",
        "Allowed. Readers that count `fn=` lines find functions that never ran.",
        "Name Compression: mappings may be defined before any cost line";

    // Positions.
    BAD_POSITION: Error "bad-position",
        "something else than a position where one is needed",
        "A position is a number, `+number`, `-number` or `*`. The line's place is guessed, or the line is left out.",
        "Grammar: SubPosition";
    MISSING_POSITION: Warning "missing-position",
        "fewer positions than the `positions:` line announces",
        "The first number would be taken for a position by other readers.",
        "Grammar: CostLine := SubPositionList Costs?";
    RELATIVE_WITHOUT_BASE: Error "relative-without-base",
        "a relative position with nothing before it to be relative to",
        "Taken as relative to 0.",
        "Subposition Compression: relative to the last cost line";
    POSITION_BELOW_ZERO: Error "position-below-zero",
        "a relative position that leads below 0",
        "Taken for 0. All relative positions after it may be wrong as well.",
        "Subposition Compression";
    POSITION_TOO_LARGE: Error "position-too-large",
        "a position above 2^64 - 1",
        "The greatest possible position is taken. All relative positions after it may be wrong as well.",
        "Subposition Compression: addresses have up to 64 bits";
    TOO_MANY_POSITIONS: Error "too-many-positions",
        "more positions than can be read",
        "Those past the fourth are ignored.",
        "Header lines, `positions:`";
    POSITION_RANGE: Note "position-range",
        "a range of positions",
        "The first position is used. KCachegrind reads ranges as well; the grammar does not have them.",
        "Grammar: SubPosition";
    CAPITAL_HEX: Note "capital-hex",
        "a hexadecimal number with capital letters",
        "Allowed by the grammar, but for the prefix `0X`; some readers know `0x` and small digits only.",
        "Grammar: HexNumber := \"0x\" (Digit | HexChar)+";
    HUGE_LINE_NUMBER: Warning "huge-line-number",
        "a line number above 2^32 - 1",
        "KCachegrind keeps 32 bits of it.",
        "practice: KCachegrind";
    TARGET_MISSING: Warning "target-missing",
        "a call or jump with fewer target positions than there are columns",
        "The target is unknown. KCachegrind never reads it for calls, others insist on it.",
        "Grammar: CallLine := \"calls=\" Space* Number Space+ SubPositionList";
    TARGET_EXTRA: Note "target-extra",
        "a call with more target positions than there are columns",
        "Xdebug writes `calls=1 0 0`. The extra ones mean nothing.",
        "Grammar: CallLine";

    // Costs.
    COST_BEFORE_EVENTS: Error "cost-before-events",
        "a cost before the `events:` line",
        "What its numbers are cannot be known.",
        "Header lines, `events:`";
    COST_WITHOUT_FUNCTION: Warning "cost-without-function",
        "a cost before any `fn=` line",
        "It is counted to an unknown function.",
        "Basic Structure: cost lines are related to the function given before";
    BAD_COST: Error "bad-cost",
        "something else than a number where a cost is needed",
        "Taken for 0, so sums are wrong.",
        "Grammar: Costs := (Number Space+)+";
    FRACTIONAL_COST: Error "fractional-cost",
        "a cost with a fraction or an exponent",
        "The integer part is taken. KCachegrind reads the digits before the point and shifts the rest.",
        "Grammar: Number";
    COST_TOO_LARGE: Error "cost-too-large",
        "a cost that 64 bits cannot hold",
        "The nearest possible value is taken. Others wrap without a word.",
        "Basic Structure: 64-bit counters";
    TOO_MANY_COSTS: Error "too-many-costs",
        "more costs than event types",
        "The first ones are taken. The `events:` line or the cost line is wrong.",
        "Body lines: cost numbers get mapped to event types";
    FEWER_COSTS: Note "fewer-costs",
        "fewer costs than event types",
        "The rest is 0. Callgrind leaves out zeros at the end of a line.",
        "Body lines: the costs default to zero";
    NO_COSTS: Note "no-costs",
        "a cost line with a position and no cost at all",
        "Allowed; XTree files have them.",
        "Grammar: CostLine := SubPositionList Costs?";
    NEGATIVE_COST: Warning "negative-cost",
        "a cost below 0",
        "Real in differences and in memory profiles, but KCachegrind takes it for 0.",
        "Grammar: Number has no sign";
    WRAPPED_COST: Warning "wrapped-cost",
        "a cost that looks like a negative number written without its sign",
        "Above 2^63. Xdebug lets a subtraction go below 0. The number is read as it stands, and sums with it mean nothing.",
        "practice: Xdebug";
    SUM_OVERFLOW: Warning "sum-overflow",
        "a total above 2^64 - 1",
        "It is exact here. Other readers wrap without a word.",
        "Basic Structure: 64-bit counters";
    TOTALS_MISMATCH: Error "totals-mismatch",
        "`totals:` is not the sum of the self costs",
        "Costs were lost or added after the profile was written, or the writer is wrong. The computed sum is used.",
        "Header lines, `totals:`: must give the total of all cost lines";
    TOTALS_LENGTH: Warning "totals-length",
        "`totals:` has more values than there are event types",
        "The extra ones are ignored.",
        "Header lines, `totals:`";
    SUMMARY_BELOW_SUM: Warning "summary-below-sum",
        "`summary:` is less than the sum of the self costs",
        "Percentages of it go above 100. Callgrind leaves signal handlers and what happened before a reset out of it. The computed sum is used.",
        "Header lines, `summary:`: equal or larger than the total";
    SUMMARY_ABOVE_SUM: Note "summary-above-sum",
        "`summary:` is more than the sum of the self costs",
        "Allowed: not all of the cost has to be in the cost lines. The computed sum is used.",
        "Header lines, `summary:`";
    SUMMARY_WRAPPED: Warning "summary-wrapped",
        "`summary:` looks like a negative number written without its sign",
        "Callgrind writes such after a reset (client request or callgrind_control -z). The computed sum is used.",
        "practice: Callgrind";
    SUMMARY_LENGTH: Warning "summary-length",
        "`summary:` has another number of values than there are event types",
        "Missing values are taken as not stated, extra ones are ignored.",
        "Header lines, `summary:`";

    // Calls and jumps.
    BAD_COUNT: Error "bad-count",
        "something else than a number where a count is needed",
        "Taken for 0.",
        "Grammar: CallLine := \"calls=\" Space* Number";
    NEGATIVE_COUNT: Warning "negative-count",
        "a count below 0",
        "Real in differences; reli writes -1 for unknown.",
        "Grammar: Number has no sign";
    ZERO_COUNT: Note "zero-count",
        "a call that was made 0 times and has a cost",
        "It began in an earlier part, or the producer does not count calls. callgrind_annotate adds the inclusive cost to the caller's self cost then.",
        "practice: Callgrind parts, XTree, pprof";
    CALL_WITHOUT_COST: Error "call-without-cost",
        "`calls=` without the cost line that must follow it",
        "The call is left out.",
        "Body lines, `calls=`: after it there MUST be a cost line";
    CALL_WITHOUT_CALLEE: Error "call-without-callee",
        "`calls=` without a `cfn=` line before it",
        "The callee before it is taken, as KCachegrind does; if there is none, the callee is unknown.",
        "Associations: precede the above lines with a \"cfn=\" specification";
    JUMP_WITHOUT_SOURCE: Warning "jump-without-source",
        "a jump without the position line that says where it starts",
        "The published grammar has no such line, but Callgrind writes it and KCachegrind takes the next cost line for it.",
        "practice: Callgrind";
    CALLEE_WITHOUT_BLOCK: Note "callee-without-block",
        "calls to a function that has no costs of its own in the file",
        "Its self cost is taken for 0. Where it is called from is all that is known of it.",
        "Associations";
    INCLUSIVE_MISMATCH: Note "inclusive-mismatch",
        "calls to a function cost more than the function and all that it calls",
        "One of the two is wrong, or they are of different time spans. Viewers differ in which of them they show.",
        "Associations: inclusive cost spent inside of the function call";
    RECURSION: Note "recursion",
        "calls of a function to itself cost more than the function and all that it calls",
        "The cost of an inner call is counted again in each outer one. Shares computed from these calls go above 100%.",
        "Associations: inclusive cost spent inside of the function call";
    ARC_EXCEEDS_TOTAL: Note "call-exceeds-total",
        "a call that costs more than the whole part",
        "With recursion the same cost is counted once for each level. Percentages go above 100.",
        "Associations: inclusive cost";
    NO_SELF_COST: Warning "no-self-cost",
        "a part with calls whose self costs are all 0",
        "Every percentage is a division by 0.",
        "practice";

    // Grammars that a file can be held to.
    GRAMMAR: Error "strict",
        "the file leaves the published grammar here (--strict)",
        "Asked for with --strict. `gristmill rewrite --repair` writes the profile in the published grammar.",
        "Grammar";
    PRACTICE: Error "practice",
        "Valgrind's own tools do not write this (--practice)",
        "Asked for with --practice. Readers made for Valgrind's files may stumble here.",
        "practice: Callgrind, Cachegrind, XTree";
}

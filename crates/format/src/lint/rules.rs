//! The table of lint rules.

use super::Severity;

/// A lint rule. [`RULES`] lists all.
///
/// See the example of [`Lint::run`](crate::Lint::run).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The name, which is stable across versions.
    pub name: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The rule in one line.
    pub summary: &'static str,
    /// The consequence, and what to do.
    pub help: &'static str,
    /// The origin: a clause of the specification, or what some reader does.
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
        "the file is not a profile",
        "Nothing was read. Give the file that the profiler wrote, not a report made from it. Unpack or convert it first if necessary.",
        "practice: readers look for `# callgrind format`, `events:` or `creator:` at the top";
    EMPTY_FILE: Warning "empty-file",
        "the file is empty",
        "Callgrind leaves an empty base file beside the real ones with --separate-threads=yes, after exec, and when it is killed. Look for files with the same name and a suffix such as -01.",
        "Grammar: PartData needs header and body lines";
    NO_EVENTS: Error "no-events",
        "there is no `events:` line",
        "Without it the costs have no meaning. Every part needs one, before its first cost.",
        "Header lines, `events:`: required exactly once in each part";
    NO_BODY: Note "no-body",
        "a part has a header but no cost",
        "Nothing was measured (collection was switched off, or the thread did nothing), or the writer was stopped at once.",
        "Grammar: PartData needs body lines";
    TRUNCATED: Error "truncated",
        "the file looks cut off",
        "Its producer ends each part with a line that is missing here, or the last line is not whole. Costs after the cut are lost; record again. `gristmill rewrite --repair` makes the rest valid.",
        "practice: Callgrind ends with `totals:`, Xdebug and Cachegrind with `summary:`";
    NO_FINAL_NEWLINE: Note "no-final-newline",
        "the last line has no line end",
        "Some readers drop the last line then. The file may have been cut off.",
        "Grammar: every line ends with \\n";
    BYTE_ORDER_MARK: Warning "byte-order-mark",
        "the file begins with a byte order mark",
        "KCachegrind and callgrind_annotate read it as part of the first line. Save the file without it.",
        "Basic Structure: the format is ASCII based";
    COMPRESSED: Note "compressed-content",
        "the file name says compressed and the content is not, or the reverse",
        "Readers that decide by the name fail. Rename the file.",
        "practice: Xdebug writes .gz names, with or without compression";
    DAMAGED_COMPRESSION: Error "damaged-compression",
        "the compressed file is cut off or damaged",
        "The readable beginning was read. The rest is lost, so sums are too low.",
        "practice";
    SEVERAL_PROFILES: Note "several-profiles",
        "the file holds several profiles, one after another",
        "Xdebug writes `==== NEW PROFILING FILE ====` between profiles in append mode. Other readers fail at that line, or mix up the name ids, which start again after it.",
        "practice: xdebug.profiler_append";

    // Lines.
    UNKNOWN_LINE: Error "unknown-line",
        "an unreadable line",
        "The line is skipped. If it was a cost line, its cost is missing from all sums.",
        "Grammar: HeaderLine, BodyLine";
    UNKNOWN_HEADER: Warning "unknown-header",
        "an unknown header key",
        "The line is ignored. KCachegrind warns about it on its console.",
        "Header lines";
    UNKNOWN_BODY: Warning "unknown-body-line",
        "an unknown body key",
        "The line is ignored. It may have changed the meaning of the lines after it.",
        "Body lines";
    HIDDEN_OPTION: Note "hidden-option",
        "a line that Callgrind writes only with undocumented options",
        "`rec=`, `frfn=`, `bb=` and `ln=` come from --mangle-names=no and --dump-bbs=yes. KCachegrind skips these lines, and with `frfn=` lines the names that they define.",
        "practice: Callgrind, hidden options";
    KEY_CASE: Warning "key-case",
        "a key with capital letters",
        "Keys are lower case; other readers do not recognise this one. `gristmill rewrite --repair` repairs it.",
        "Grammar: keys are literals";
    BLANK_BEFORE_SEPARATOR: Warning "blank-before-separator",
        "a blank between a key and its `=` or `:`",
        "Other readers do not recognise the key then. `gristmill rewrite --repair` repairs it.",
        "Grammar: PositionSpec := Position \"=\"";
    BLANK_AFTER_EQUALS: Note "blank-after-equals",
        "a blank after `=`",
        "The grammar allows it. KCachegrind reads it as part of the name.",
        "Grammar: PositionSpec := Position \"=\" Space* PositionName";
    LEADING_BLANK: Warning "leading-blank",
        "a line that begins with a blank",
        "KCachegrind skips such lines. Some producers use the blank for a missing position.",
        "Grammar: no line begins with Space";
    TRAILING_BLANK: Note "trailing-blank",
        "blanks at the end of a line where Callgrind writes none",
        "After numbers they are harmless; at the end of a name they are part of the name.",
        "Grammar: Costs := (Number Space+)+";
    EXTRA_BLANKS: Note "extra-blanks",
        "more than one blank between two numbers",
        "The grammar allows it. cg_merge aligns its columns this way.",
        "Grammar: Space+";
    TAB_SEPARATOR: Warning "tab-separator",
        "a tab between two numbers",
        "The grammar allows it, but KCachegrind reads all costs after a tab as 0.",
        "Grammar: Space := \" \" | \"\\t\"";
    LINE_END_CRLF: Note "line-end-crlf",
        "lines end with a carriage return and a line feed",
        "callgrind_annotate reads the carriage return as part of names and numbers.",
        "Grammar: lines end with \\n";
    LINE_END_MIXED: Note "line-end-mixed",
        "some lines end with a carriage return and others do not",
        "Two files were joined, or an editor changed a part of the file.",
        "Grammar: lines end with \\n";
    LINE_END_CR: Warning "line-end-cr",
        "lines end with a carriage return alone",
        "Other readers see a single line.",
        "Grammar: lines end with \\n";
    NUL_BYTE: Warning "nul-byte",
        "a NUL byte",
        "KCachegrind reads nothing after it. PHP puts one into the names of anonymous classes.",
        "Basic Structure: the format is ASCII based";
    NOT_UTF8: Note "not-utf8",
        "text that is not UTF-8",
        "The format states no encoding, so each reader guesses. Other tools show question marks; strict ones refuse the file.",
        "Basic Structure: the format is ASCII based";
    BLANK_IN_BLOCK: Note "blank-in-block",
        "an empty line between a function and its costs or calls",
        "The grammar allows it. Readers that end a function at an empty line lose the costs after it.",
        "Grammar: BodyLine := (empty line)";
    COMMENT_IN_CALL: Note "comment-in-call",
        "a comment or an empty line between `calls=` and its cost line",
        "In the grammar the cost line follows `calls=` directly.",
        "Grammar: CallSpec := CallLine \"\\n\" CostLine";

    // Header.
    NO_MARKER: Note "no-format-marker",
        "the first line is not `# callgrind format`",
        "It is optional, but file managers and viewers recognise the format by it.",
        "Header lines, `# callgrind format`";
    NO_VERSION: Note "no-version",
        "there is no `version:` line",
        "It is optional; version 1 is assumed.",
        "Header lines, `version:`";
    NO_CREATOR: Note "no-creator",
        "there is no `creator:` line",
        "It is optional, but the base of relative positions depends on the program that wrote the file.",
        "Header lines, `creator:`";
    NO_POSITIONS: Note "no-positions",
        "there is no `positions:` line",
        "It is optional; one column with line numbers is assumed.",
        "Header lines, `positions:`";
    UNKNOWN_VERSION: Warning "unknown-version",
        "a version other than 1",
        "The file is read as version 1. Xdebug before 2.2 wrote 0.9.6.",
        "Grammar: FormatVersion := \"version: 1\"";
    LATE_VERSION: Note "late-version",
        "`version:` or `creator:` in the middle of the file",
        "Callgrind repeats the whole header for each thread of a combined dump. Other producers append whole profiles.",
        "Grammar: FormatVersion and Creator occur once, at the top";
    HEADER_AFTER_EVENTS: Note "header-after-events",
        "a header line after `events:`",
        "callgrind_annotate ends the header at `events:` and stops at the next header line.",
        "Long Names: the order of `event:` and `events:` is of no importance";
    HEADER_IN_BODY: Warning "header-in-body",
        "a header line after the first cost",
        "It belongs before the body. callgrind_annotate stops at this line.",
        "Grammar: PartData := HeaderLine+ BodyLine+";
    SUMMARY_IN_BODY: Warning "summary-in-body",
        "`summary:` between costs",
        "It belongs in the header. Xdebug before 2.6 writes it between `fn=` and the cost line.",
        "Header lines, `summary:`";
    SUMMARY_AT_END: Note "summary-at-end",
        "`summary:` after the body",
        "Cachegrind and Xdebug put it there; the specification has it in the header.",
        "Header lines, `summary:`";
    TOTALS_KEY: Warning "totals-key",
        "`total:` or `totals=` instead of `totals:`",
        "It is read as `totals:`. Other readers do not recognise it.",
        "Header lines, `totals:`";
    TOTALS_EARLY: Warning "totals-early",
        "`totals:` before the body",
        "It belongs at the end, so that a reader can check the costs it has read.",
        "Header lines, `totals:`";
    BODY_AFTER_TOTALS: Warning "body-after-totals",
        "costs after `totals:`",
        "They are added to the same part, so its totals are wrong.",
        "Header lines, `totals:`: at the end";
    DUPLICATE_HEADER: Warning "duplicate-header",
        "a header line that occurs twice in one part",
        "The last one is used here. Other readers may use the first, or begin another part.",
        "Header lines, `events:`: exactly once in each part";
    DUPLICATE_PART: Error "duplicate-part",
        "two parts with the same text, or the same process, part and thread",
        "Their costs are added up. If the file was joined from copies, they are counted twice. Take the file that the producer wrote.",
        "Header lines, `part:`";
    MIXED_RECORDINGS: Error "mixed-recordings",
        "parts of different recordings in one file",
        "Their costs are added up. Take the files one by one; `gristmill merge` adds up what belongs together, and `--keep-parts` keeps it apart.",
        "Header lines, `pid:`, `cmd:`, `creator:`: of the process that was measured";
    BAD_HEADER: Warning "bad-header-value",
        "an invalid header value",
        "The line is ignored.",
        "Grammar: PartDetail, Description, EventSpecification";
    DESC_WITHOUT_KIND: Note "desc-without-kind",
        "a `desc:` line without a second colon",
        "The specification has `desc: kind: value`.",
        "Header lines, `desc:`";
    POSITIONS_ORDER: Warning "positions-order",
        "`positions:` in another order than `instr`, `bb`, `line`",
        "KCachegrind ignores the order and reads lines as addresses.",
        "Header lines, `positions:`: in this order";
    POSITIONS_BB: Warning "positions-bb",
        "a `bb` position column",
        "Callgrind writes it with --dump-bb=yes. KCachegrind does not support it and reads the wrong columns.",
        "Header lines, `positions:`";
    UNKNOWN_POSITION: Error "unknown-position",
        "an unknown kind of position",
        "The column is read and ignored. If the cost lines do not have the column, their first cost is read as a position.",
        "Header lines, `positions:`";
    POSITIONS_CHANGE: Note "positions-change",
        "a part has other position columns than the part before",
        "The format allows it.",
        "Header lines, `positions:`";
    EVENTS_CHANGE: Note "events-change",
        "a part has other event types than the part before",
        "The format allows it. Event types are matched by name; some readers match them by column.",
        "Header lines, `events:`";
    DUPLICATE_EVENT: Error "duplicate-event",
        "an event type that occurs twice on the `events:` line",
        "Readers that match by name lose one of the two columns, or add them up.",
        "Header lines, `events:`";
    EVENT_NAME: Warning "event-name",
        "an event type whose name has other characters than letters and digits",
        "Xdebug, pprof and others state the unit this way. KCachegrind shows the event type but cannot use it in formulas.",
        "Grammar: Name := Alpha (Digit | Alpha)*";
    EVENT_WITHOUT_COLON: Warning "event-without-colon",
        "`event:` with a long name but no colon before it",
        "The rest of the line is read as the long name. KCachegrind ignores it.",
        "Grammar: LongNameDef := \":\" NoNewLineChar*";
    EVENT_FORMULA: Warning "event-formula",
        "a formula that cannot be calculated",
        "It uses itself, an event type that does not exist, or a factor above 2^63 − 1. Where some of its event types \
         exist, the others count as 0; otherwise the derived event type is left out.",
        "Long Names for Event Types and inherited Types";
    EVENT_FORMULA_SYNTAX: Note "event-formula-syntax",
        "a formula that the grammar does not allow",
        "The grammar has names with factors, joined by `+`. KCachegrind accepts `-` as well.",
        "Grammar: InheritedExpr";

    // Names.
    UNDEFINED_NAME: Error "undefined-name",
        "a name id that was not defined before",
        "The name is unknown. Other ids without a definition cannot be matched with it.",
        "Name Compression: \"spec=(ID)\" refers to a previously defined mapping";
    REDEFINED_NAME: Warning "redefined-name",
        "a name id that gets another meaning within one part",
        "The new meaning holds from here on. KCachegrind warns; two functions may become one.",
        "Name Compression: the alias holds from this line to the end of the file";
    RENUMBERED_NAMES: Note "renumbered-names",
        "a later part gives name ids another meaning",
        "Each part is read with its own meanings. Readers with one table for the file mix them up.",
        "Name Compression: the alias holds from this line to the end of the file";
    UNCLOSED_NAME_ID: Warning "unclosed-name-number",
        "a name that begins with `(` and a digit, and has no `)`",
        "It is read as a plain name. A name that begins like this must be written with a name id.",
        "Body lines: names never start with \"(\" and a digit";
    ODD_NAME_NUMBER: Warning "odd-name-number",
        "a name that begins with parentheses around something like a number",
        "Only `(digits)` is a name id; this is read as part of the name.",
        "Grammar: PositionName := ( \"(\" Number \")\" )?";
    HEX_NAME_NUMBER: Warning "hexadecimal-name-number",
        "a hexadecimal name id",
        "The grammar allows it. KCachegrind reads 0, callgrind_annotate reads a name.",
        "Grammar: Number := HexNumber | (Digit)+";
    NAME_NUMBER_ZERO: Note "name-number-zero",
        "a name with the id 0",
        "The format allows it. Callgrind counts function ids from 0, other producers from 1.",
        "Name Compression";
    AMBIGUOUS_NAME: Note "ambiguous-name",
        "a name id that is defined once and never used",
        "It may be a plain name that begins with a number in parentheses; the file does not say.",
        "Body lines: names never start with \"(\" and a digit";
    PARENTHESIS_NAME: Note "parenthesis-name",
        "a plain name that begins with `(`",
        "The format allows it if no digit follows, as in `(below main)`.",
        "Body lines: names never start with \"(\" and a digit";
    EMPTY_NAME: Note "empty-name",
        "an empty name",
        "It is shown as unknown. All empty names are one name.",
        "Body lines, position names";
    NAME_MANY_NUMBERS: Note "name-with-many-numbers",
        "many ids for one name",
        "They are read as one name. The producer has probably numbered uses instead of names.",
        "Name Compression";
    CONTROL_IN_NAME: Warning "control-in-name",
        "a control character in a name",
        "Unescaped, it can control a terminal; here it is shown escaped.",
        "Basic Structure: the format is ASCII based";
    MARKUP_IN_NAME: Note "markup-in-name",
        "HTML in a name",
        "Viewers that do not escape names execute it.",
        "practice";
    ESCAPE_IN_NAME: Note "escape-in-name",
        "`\\n` in a name",
        "The format has no escapes in names: these are a backslash and an n. Callgrind writes escapes in `cmd:` only.",
        "Grammar: PositionName";
    PATH_LEAVES_TREE: Note "path-leaves-tree",
        "a source path that leaves its base directory",
        "It is opened only if you ask for source text.",
        "practice";
    DEVICE_PATH: Warning "device-path",
        "a source path that names a device",
        "Tools that open it for source text may hang.",
        "practice";
    CALLEE_NAMED_TWICE: Warning "callee-named-twice",
        "two `cfn=` lines for one `calls=` line",
        "The last one is used.",
        "Body lines, `cfn=`";
    CALLEE_ORDER: Note "callee-order",
        "`cfn=` before the `cfi=` or `cob=` that belongs to it",
        "The callee is determined at `calls=`, as in KCachegrind. Readers that determine it at `cfn=` get the wrong file.",
        "Associations";
    FUNCTION_BEFORE_FILE: Note "function-before-file",
        "`fn=` before the `fl=` that belongs to it",
        "It is the function's file if no cost comes between. KCachegrind uses the file before.",
        "Body lines, `fl=`";
    BARE_DEFINITIONS: Note "bare-definitions",
        "functions that are only named, to define their ids",
        "The format allows it. Readers that count `fn=` lines find functions that never ran.",
        "Name Compression: mappings may be defined before any cost line";

    // Positions.
    BAD_POSITION: Error "bad-position",
        "an invalid position",
        "A position is a number, `+number`, `-number` or `*`. The position of the line is estimated, or the line is skipped.",
        "Grammar: SubPosition";
    MISSING_POSITION: Warning "missing-position",
        "fewer positions than the `positions:` line announces",
        "Other readers read the first cost as a position.",
        "Grammar: CostLine := SubPositionList Costs?";
    RELATIVE_WITHOUT_BASE: Error "relative-without-base",
        "a relative position without a position before it",
        "It is read as relative to 0.",
        "Subposition Compression: relative to the last cost line";
    POSITION_BELOW_ZERO: Error "position-below-zero",
        "a relative position below 0",
        "It is read as 0. All relative positions after it may be wrong as well.",
        "Subposition Compression";
    POSITION_TOO_LARGE: Error "position-too-large",
        "a position above 2^64 - 1",
        "It is read as the largest possible position. All relative positions after it may be wrong as well.",
        "Subposition Compression: addresses have up to 64 bits";
    TOO_MANY_POSITIONS: Error "too-many-positions",
        "more than four positions",
        "Positions after the fourth are ignored.",
        "Header lines, `positions:`";
    POSITION_RANGE: Note "position-range",
        "a range of positions",
        "The first position is used. KCachegrind reads ranges as well; the grammar has none.",
        "Grammar: SubPosition";
    CAPITAL_HEX: Note "capital-hex",
        "a hexadecimal number with capital letters",
        "The grammar allows it, except the prefix `0X`. Some readers accept only `0x` and lower-case digits.",
        "Grammar: HexNumber := \"0x\" (Digit | HexChar)+";
    HUGE_LINE_NUMBER: Warning "huge-line-number",
        "a line number above 2^32 - 1",
        "KCachegrind truncates it to 32 bits.",
        "practice: KCachegrind";
    TARGET_MISSING: Warning "target-missing",
        "a call or jump with fewer target positions than there are columns",
        "The target is unknown. KCachegrind ignores targets of calls, other readers require them.",
        "Grammar: CallLine := \"calls=\" Space* Number Space+ SubPositionList";
    TARGET_EXTRA: Note "target-extra",
        "a call with more target positions than there are columns",
        "Xdebug writes `calls=1 0 0`. The extra positions have no meaning.",
        "Grammar: CallLine";

    // Costs.
    COST_BEFORE_EVENTS: Error "cost-before-events",
        "a cost before the `events:` line",
        "Its numbers have no meaning.",
        "Header lines, `events:`";
    COST_WITHOUT_FUNCTION: Warning "cost-without-function",
        "a cost before any `fn=` line",
        "It is added to an unknown function.",
        "Basic Structure: cost lines are related to the function given before";
    BAD_COST: Error "bad-cost",
        "an invalid cost",
        "It is read as 0, so sums are wrong.",
        "Grammar: Costs := (Number Space+)+";
    FRACTIONAL_COST: Error "fractional-cost",
        "a cost with a fraction or an exponent",
        "The integer part is used. KCachegrind reads the digits before the point and shifts the columns after it.",
        "Grammar: Number";
    COST_TOO_LARGE: Error "cost-too-large",
        "a cost that does not fit 64 bits",
        "The nearest possible value is used. Other readers wrap silently.",
        "Basic Structure: 64-bit counters";
    TOO_MANY_COSTS: Error "too-many-costs",
        "more costs than event types",
        "The first ones are used. The `events:` line or the cost line is wrong.",
        "Body lines: cost numbers get mapped to event types";
    FEWER_COSTS: Note "fewer-costs",
        "fewer costs than event types",
        "The missing ones are 0. Callgrind omits zeros at the end of a line.",
        "Body lines: the costs default to zero";
    NO_COSTS: Note "no-costs",
        "a cost line with a position and no cost at all",
        "The format allows it; XTree files have such lines.",
        "Grammar: CostLine := SubPositionList Costs?";
    NEGATIVE_COST: Warning "negative-cost",
        "a cost below 0",
        "Differences and memory profiles have such costs, but KCachegrind reads them as 0.",
        "Grammar: Number has no sign";
    WRAPPED_COST: Warning "wrapped-cost",
        "a cost that looks like a negative number written without its sign",
        "It is above 2^63: in Xdebug a subtraction went below 0. Reports on files of Xdebug and Callgrind count it as what it was, if no other cost comes near it.",
        "practice: Xdebug";
    SUM_OVERFLOW: Warning "sum-overflow",
        "a total above 2^64 - 1",
        "It is exact here. Other readers wrap silently.",
        "Basic Structure: 64-bit counters";
    TOTALS_MISMATCH: Error "totals-mismatch",
        "`totals:` is not the sum of the self costs",
        "Costs were lost or added after the profile was written, or the producer is wrong. The computed sum is used. Cachegrind states the sum in `summary:`.",
        "Header lines, `totals:`: must give the total of all cost lines";
    TOTALS_LENGTH: Warning "totals-length",
        "`totals:` has more values than there are event types",
        "The extra ones are ignored.",
        "Header lines, `totals:`";
    CALL_BALANCE: Error "call-balance",
        "calls and blocks do not agree",
        "Xdebug writes a block for each call, with the cost that the call has in its caller. Blocks were lost or costs changed after that; record again.",
        "practice: Xdebug";
    COUNTED_TWICE: Warning "counted-twice",
        "time that counts twice",
        "Xdebug counts the time of others for the functions of a suspended fiber, too. The total of `summary:` is the true one.",
        "practice: Xdebug";
    SUMMARY_BELOW_SUM: Warning "summary-below-sum",
        "`summary:` is less than the sum of the self costs",
        "Percentages of it exceed 100%. Callgrind does not count signal handlers and costs before a reset in it. The computed sum is used.",
        "Header lines, `summary:`: equal or larger than the total";
    SUMMARY_ABOVE_SUM: Note "summary-above-sum",
        "`summary:` is more than the sum of the self costs",
        "The format allows it: cost lines may omit a part of the cost. The computed sum is used.",
        "Header lines, `summary:`";
    SUMMARY_WRAPPED: Warning "summary-wrapped",
        "`summary:` looks like a negative number written without its sign",
        "Callgrind writes such a line after a reset (client request or callgrind_control -z). The computed sum is used.",
        "practice: Callgrind";
    SUMMARY_LENGTH: Warning "summary-length",
        "the number of `summary:` values differs from that of event types",
        "Missing values are unknown, extra ones are ignored.",
        "Header lines, `summary:`";

    // Calls and jumps.
    BAD_COUNT: Error "bad-count",
        "an invalid count",
        "It is read as 0.",
        "Grammar: CallLine := \"calls=\" Space* Number";
    NEGATIVE_COUNT: Warning "negative-count",
        "a count below 0",
        "Differences have such counts; reli writes -1 for unknown.",
        "Grammar: Number has no sign";
    ZERO_COUNT: Note "zero-count",
        "a call with a count of 0 and a cost",
        "The call began in an earlier part, or the producer does not count calls. callgrind_annotate adds the inclusive cost to the caller's self cost then.",
        "practice: Callgrind parts, XTree, pprof";
    CALL_WITHOUT_COST: Error "call-without-cost",
        "`calls=` without the cost line that must follow it",
        "The call is skipped.",
        "Body lines, `calls=`: after it there MUST be a cost line";
    CALL_WITHOUT_CALLEE: Error "call-without-callee",
        "`calls=` without a `cfn=` line before it",
        "The callee of the last call of the function is used. If there is none, the callee is unknown.",
        "Associations: precede the above lines with a \"cfn=\" specification";
    JUMP_WITHOUT_SOURCE: Warning "jump-without-source",
        "a jump without the position line of its start",
        "The published grammar has no such line, but Callgrind writes it, and KCachegrind reads the next cost line as one.",
        "practice: Callgrind";
    CALLEE_WITHOUT_BLOCK: Note "callee-without-block",
        "calls to a function that has no cost lines in the file",
        "Its self cost is 0. Only its callers are known.",
        "Associations";
    INCLUSIVE_MISMATCH: Note "inclusive-mismatch",
        "calls to a function cost more than the function and its callees",
        "One of the two is wrong, or they cover different time spans. Viewers differ in which one they show.",
        "Associations: inclusive cost spent inside of the function call";
    RECURSION: Note "recursion",
        "calls of a function to itself cost more than the function and its callees",
        "The cost of an inner call is counted again in each outer one. Percentages computed from these calls exceed 100%.",
        "Associations: inclusive cost spent inside of the function call";
    ARC_EXCEEDS_TOTAL: Note "call-exceeds-total",
        "a call that costs more than its part",
        "With recursion the same cost is counted once for each level. Percentages exceed 100%.",
        "Associations: inclusive cost";
    NO_SELF_COST: Warning "no-self-cost",
        "a part with calls whose self costs are all 0",
        "Every percentage would be a division by 0.",
        "practice";

    // Grammars that a file can be checked against.
    GRAMMAR: Error "strict",
        "the file leaves the published grammar here (--strict)",
        "Reported with --strict only. `gristmill rewrite --repair` writes a damaged profile in the published grammar; one \
         without damage stays as it is.",
        "Grammar";
    PRACTICE: Error "practice",
        "Valgrind's own tools do not write this (--practice)",
        "Reported with --practice only. Readers made for Valgrind's files may fail here.",
        "practice: Callgrind, Cachegrind, XTree";
}

// The questions of the page and their answers.
//
// Generated from docs/schema/view.schema.json by `cargo xtask ui-types`. Do not change it by hand.

/** The type of the answer to each kind of question. */
export interface Answers {
  assembly: Assembly;
  changed_function: DiffFunction;
  changes: Diff;
  changes_flame: ChangedFlame;
  changes_graph: ChangedGraph;
  changes_page: ChangesPage;
  changes_tree: DiffTree;
  changes_treemap: ChangedTreemap;
  find: Found;
  findings: Findings;
  flame: Flame;
  function: Show;
  functions: FunctionsPage;
  graph: Graph;
  matches: Matches;
  overview: Overview;
  parts: Parts;
  search: SearchResults;
  source: Source;
  summary: Summary;
  tree: Tree;
  treemap: Treemap;
}

/** Calls from an instruction to a function. */
export interface AssembledCall {
  /** The count of calls. */
  calls: Exact;
  /** The inclusive cost of these calls, which is not part of the instruction's self cost. */
  cost: Costs;
  /** The id of the called function. */
  id: number;
  /** The name of the called function, demangled. */
  name: string;
}

/** A function as machine code. */
export interface AssembledFunction {
  /** The count of calls, as far as the profile has it. */
  calls: Exact;
  /** The calls at positions without an address. */
  calls_without_address: AssembledCall[];
  /** The source file; empty or ??? if it is unknown. */
  file: string;
  /** The id of the function, the same for all selections of a profile. */
  id: number;
  /** The inclusive cost. */
  inclusive: Costs;
  /**
   * The instructions of the function, and addresses with costs where the program has no instruction,
   * ascending.
   */
  instructions: Instruction[];
  /** true if the instructions are those of the program that was recorded. */
  is_certain: boolean;
  /** true if the function is so large that only instructions with costs are listed. */
  is_cut: boolean;
  /** The count of jumps at positions without an address. */
  jumps_without_address: number;
  /** The name, demangled. */
  name: string;
  /** The program of the function, as an index into the list of programs. */
  program: number;
  /** The self cost: the sum over all instructions, and that without an address. */
  self: Costs;
  /** The self cost at positions without an address. */
  without_address: Costs;
}

/** Jumps from an instruction to another. */
export interface AssembledJump {
  /** The number of times a conditional jump was reached. null for an unconditional jump. */
  executed: Exact | null;
  /** The function of the target, if the profile names another. */
  function: string | null;
  /** The count of jumps. */
  taken: Exact;
  /** The address of the target. null if it is unknown. */
  target: string | null;
}

/** The machine code of a function, with the text of its source lines. */
export interface Assembly {
  /** The program that wrote the profile. */
  creator: string | null;
  /** The reasons why the numbers are not those of the recording. Empty if all files are whole. */
  damage: Damage[];
  /**
   * The event types that are shown, in order: the keys of all costs. The second one of the same name ends
   * with `#2`.
   */
  event_types: string[];
  /** The same event types, described. */
  events: EventColumn[];
  /** The count of lines that could not be taken as they are. `gristmill lint` lists them. */
  findings: number;
  /** The functions, the most expensive first by self cost. */
  functions: AssembledFunction[];
  /** The count of functions that have costs and match --function and --file. */
  matching: number;
  /** Remarks on the profile and on the view: one sentence each. */
  notes: string[];
  /** The event types that are not shown. */
  other_event_types: string[];
  /** The count of parts of the profile. */
  parts: number;
  /** The programs and libraries of the functions. */
  programs: Program[];
  /** The count of selected parts. */
  selected_parts: number;
  /**
   * The source files whose lines the instructions come from, as far as they can be read: also those of
   * inlined functions.
   */
  sources: ShownFile[];
  /** The program that was measured, or the files if the profile does not name it. */
  title: string;
  /** Sums of self cost over the selected parts. */
  totals: Costs;
}

/** The profile that this one is compared with. */
export interface BaseSummary {
  /** The reasons why the sides may not be compared. */
  doubts: string[];
  /** The names of its files. */
  files: string[];
  /** The program that was measured. */
  title: string;
}

/** The origin of a `Tree`, which has an example, and its certainty. */
export type Basis = "exact" | "callers" | "estimate";

/**
 * A path of calls: from the most expensive function that nothing calls, always to the callee that causes most
 * of the cost of its caller, until no callee does.
 */
export interface CallPath {
  /** The most expensive callees of the last step, or members of its cycle by self cost. */
  branches: PathStep[];
  /** The reason why the path ends. */
  end: PathEnd;
  /** The functions, from the root. */
  steps: PathStep[];
}

/**
 * The sum of all calls of a list, without those inside of a recursion, whose costs are within those of
 * others. See the example of `Show`.
 */
export interface CallSum {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost of the calls. */
  cost: Costs;
  /**
   * `true` if one of these costs is an estimate: functions are hidden or focused on, and several callers
   * share a cost.
   */
  cost_estimated?: boolean;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
}

/** The calls from a line to a function. */
export interface CalledFunction {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost of the calls. */
  cost: Costs;
  /** The number of the cycle that the function is in, if any. */
  cycle: number | null;
  /** The source file; empty or `???` if it is not known. */
  file: string;
  /**
   * The id of the function. It stays the same as long as the files of the profile and the options that fold
   * functions do.
   */
  id: number;
  /** `true` if the calls are inside of the function's cycle, or from the function to itself. */
  inner: boolean;
  /** The demangled name. Bytes that are not UTF-8 are U+FFFD here. */
  name: string;
  /** The program or library; empty or `???` if it is not known. */
  object: string;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
}

/** Calls from one caller. */
export interface CallerRow {
  /** The count of its calls. */
  calls: Change;
  /** The caller. */
  function: FunctionRef;
}

/**
 * A count of calls. If some of the calls are inlined, it is unknown: nothing tells how often inlined code was
 * entered.
 */
export interface Calls {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
}

/** One cause of the change of the first event type. */
export interface Cause {
  /** Its kind. */
  kind: CauseKind;
  /** The caller that it comes from. */
  caller: FunctionRef | null;
  /** The callers that a function was inlined into, or is no longer inlined into. Missing for other causes. */
  callers?: FunctionRef[];
  /** The count of calls, if they are the cause. */
  calls: Change | null;
  /** The change of the total that it explains. */
  effect: Exact;
  /** The function that it is about. */
  function: FunctionRef;
  /** The functions whose self cost it changed, the most first. */
  functions: EffectRow[];
  /** `true` if all of it is within the spread of a side's runs. */
  noise: boolean;
  /** The self cost that it accounts for: its effect, or the cost that moved. */
  size: Exact;
  /** The cause as a sentence. */
  text: string;
}

/** The kind of a cause. */
export type CauseKind =
  | "inlined"
  | "outlined"
  | "calls"
  | "per-call"
  | "counts"
  | "average"
  | "self-cost"
  | "new"
  | "vanished"
  | "split"
  | "swapped";

/** A number on both sides; the median if a side has several runs. */
export interface Change {
  base: Exact;
  /** The minimum and the maximum of the base's runs. Missing if no side has runs that differ. */
  base_range?: [Exact, Exact] | null;
  /** `new` less `base`. */
  change: Exact;
  new: Exact;
  /** The same of the new side. */
  new_range?: [Exact, Exact] | null;
  /** `true` if the ranges of both sides overlap. Missing if no side has runs that differ. */
  noise?: boolean | null;
}

/** The sides that a function is on. */
export type ChangePresence = "both" | "vanished" | "new";

/** A function or a group on both sides. */
export interface ChangeRow {
  /** The name in the base, if it is a different one. */
  base_name: string | null;
  /** The count of calls of it. */
  calls: Change;
  /** The source file; empty for a group. */
  file: string;
  /** The id of the function, the same in every answer on these profiles. Null for a group. */
  id: number | null;
  /** Inclusive cost by event type. */
  inclusive: Changes;
  /**
   * `true` if inclusive costs may count calls twice: they leave a group and come back. Missing if `false`.
   */
  inclusive_is_doubtful?: boolean;
  /** The name, as the new profile has it, or else the base. */
  name: string;
  /** The object; empty for a group. */
  object: string;
  /** The sides that it is on. */
  on: ChangePresence;
  /** Self cost by event type. */
  self: Changes;
}

/** The key that decides the order of changes. */
export type ChangeSort = "self_change" | "inclusive_change" | "name";

/** Calls in a call graph of both sides. */
export interface ChangedArc {
  /** The index of the callee in `nodes`. */
  callee: number;
  /** The index of the caller in `nodes`. */
  caller: number;
  /** The count of calls. */
  calls: Change;
  /** Inclusive cost of the calls. */
  cost: Changes;
  /** The middle of its label. */
  label: [number, number];
  /** The points of its cubic Bézier curves: a start, then three points for each curve. */
  points: [number, number][];
}

/** Calls from one function to another, or from one line. */
export interface ChangedCall {
  /** The count of calls. */
  calls: Change;
  /** The function at the other end. */
  function: FunctionRef;
  /** Inclusive cost by event type. */
  inclusive: Changes;
}

/**
 * A flame graph of both sides. Each list has an item for each frame; a frame comes after its parent. A frame
 * is as wide as the larger of its sides, and at least as wide as the frames on it.
 */
export interface ChangedFlame {
  /** The files of each run of the base. */
  base_runs: string[][];
  /** The origin of the trees, and with it the certainty of the frames. */
  basis: Basis;
  /** By frame: the count of calls from its parent. */
  calls: Change[];
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** By frame: the distance from the root. */
  depth: number[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /**
   * By frame: the index in `functions`. -1 for frames of one parent that are merged because each is narrow.
   */
  function: number[];
  /** The things that frames stand for. */
  functions: ChangedFunction[];
  /**
   * By frame: the count of frames on it whose costs are not known on both sides, at least. They are not
   * drawn.
   */
  hidden: number[];
  /** By frame: its inclusive costs. */
  inclusive: Changes[];
  /** By frame: `true` if the cost of a side is a guess. */
  is_guessed: boolean[];
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** By frame: the count of frames that it stands for: more than 1 if it is merged. */
  merged: number[];
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** By frame: the index of its parent. -1 for the root. */
  parent: number[];
  /** By frame: its self costs. */
  self: Changes[];
  /** The sums of all self costs. */
  totals: Changes;
  /** By frame: the width, in shares of the root. */
  width: number[];
  /** By frame: the left edge, in shares of the root: 0 to 1. */
  x: number[];
}

/** The thing that a frame or rectangle stands for. */
export interface ChangedFunction {
  /** The name in the base, if it is a different one. */
  base_name: string | null;
  /** The source file; empty if it is not known. */
  file: string;
  /**
   * The id of the function, the same in every answer on these profiles. Null for the program and for a cycle.
   */
  id: number | null;
  /** The name, as the new profile has it, or else the base. */
  name: string;
  /** The program or library; empty if it is not known. */
  object: string;
}

/** A call graph of both sides with its layout. */
export interface ChangedGraph {
  /** The count of functions that would be shown without the limit of their count. */
  all_nodes: number;
  /** The calls. */
  arcs: ChangedArc[];
  /** The index in `nodes` of the function in the middle. Null without one. */
  around: number | null;
  /** The files of each run of the base. */
  base_runs: string[][];
  /** The boxes around functions of one group. */
  clusters: GraphCluster[];
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /** The height of the picture. */
  height: number;
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** The functions, the greatest change first. */
  nodes: ChangedNode[];
  /** The sums of all self costs. */
  totals: Changes;
  /** The width of the picture, in pixels at normal size. */
  width: number;
}

/** A source line on both sides. */
export interface ChangedLine {
  /** Its number in the base, 0 for an unknown line. `null` for an added line. */
  base_line: number | null;
  /** The calls that it makes. */
  calls: ChangedCall[];
  /** Its file, as the new profile has it, or else the base. */
  file: string;
  /** Its number in the new profile, 0 for an unknown line. `null` for a removed line. */
  new_line: number | null;
  /** Self cost by event type. */
  self: Changes;
  /** Its text, if the source file was found. */
  source: string | null;
}

/** A function in a call graph of both sides. */
export interface ChangedNode {
  /** The name in the base, if it is a different one. */
  base_name: string | null;
  /** The count of calls of it. */
  calls: Change;
  /** The source file; empty for a group. */
  file: string;
  /** The height of the box. */
  height: number;
  /** The count of callees that are not shown. */
  hidden_callees: number;
  /** The count of callers that are not shown. */
  hidden_callers: number;
  /** The id of the function, the same in every answer on these profiles. Null for a group. */
  id: number | null;
  /** Inclusive cost by event type. */
  inclusive: Changes;
  /**
   * `true` if inclusive costs may count calls twice: they leave a group and come back. Missing if `false`.
   */
  inclusive_is_doubtful?: boolean;
  /** `true` for the function in the middle. */
  is_center: boolean;
  /** The name, as the new profile has it, or else the base. */
  name: string;
  /** The object; empty for a group. */
  object: string;
  /** The sides that it is on. */
  on: ChangePresence;
  /** Self cost by event type. */
  self: Changes;
  /** The width of the box. */
  width: number;
  /** The left edge of the box. */
  x: number;
  /** The upper edge of the box. */
  y: number;
}

/** The side of a comparison that a row is on. */
export type ChangedSide = "all" | "worse" | "better" | "new" | "gone";

/** A rectangle of a treemap of both sides. Its area is that of the larger side. */
export interface ChangedTile {
  /** The kind. */
  kind: TileKind;
  /** Left edge, upper edge, width, height, in pixels. */
  bounds: [number, number, number, number];
  /** The distance from the whole. */
  depth: number;
  /** The index in `functions`; null for self cost, and for callees that are too small to draw. */
  function: number | null;
  /** Its cost. */
  inclusive: Changes;
  /** `true` if the cost of a side is a guess. */
  is_guessed: boolean;
  /** The count of rectangles that it stands for, if they are too small. */
  merged: number;
  /** The index of the rectangle that it is in; null for the whole. */
  parent: number | null;
}

/** A treemap of both sides. A rectangle comes after that which it is in. */
export interface ChangedTreemap {
  /** The files of each run of the base. */
  base_runs: string[][];
  /** The origin of the trees, and with it the certainty of the rectangles. */
  basis: Basis;
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /** The functions of the rectangles. */
  functions: ChangedFunction[];
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** The rectangles. */
  tiles: ChangedTile[];
  /** The sums of all self costs. */
  totals: Changes;
}

/** Values by the names of event types. */
export type Changes = Record<string, Change>;

/** A page of functions or groups that changed. */
export interface ChangesPage {
  /** The count of rows of the chosen side. */
  all: number;
  /** The files of each run of the base. */
  base_runs: string[][];
  /** The counts of rows that match, by side. */
  counts: SideCounts;
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** The count of rows of it that can be paged through: those of the greatest change. */
  listed: number;
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** The rows of the page. */
  rows: ChangeRow[];
  /** The change of the self costs of all rows of the chosen side. */
  self: Changes;
  /** The row that the page begins with. */
  start: number;
  /** The sums of all self costs. */
  totals: Changes;
}

/** The contents of a profile. */
export interface Contents {
  /** `true` if costs have addresses of instructions. */
  addresses: boolean;
  /** `true` if calls are counted: a sampled profile has no counts. */
  call_counts: boolean;
  /** `true` if there are calls. */
  calls: boolean;
  /** `true` if sources and programs can be read. */
  files: boolean;
  /** `true` if inlined functions are shown: `gristmill view --inlined` asks for them. */
  inlined: boolean;
  /** `true` if costs have source lines. */
  lines: boolean;
  /** `true` if there is more than one part, thread or process. */
  several_parts: boolean;
}

/** Costs by the names of event types. */
export type Costs = Record<string, Exact>;

/** The cycle that a function is in. */
export interface Cycle {
  /** The calls whose removal breaks most of the cycle; null if no arc does. */
  breaker: CycleBreaker | null;
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Calls into the cycle. */
  entries: List<CycleEntry>;
  /**
   * `true` if these costs are estimates: functions are hidden or focused on, and several callers share a
   * cost.
   */
  estimated?: boolean;
  /** Inclusive cost of the cycle. */
  inclusive: Costs;
  /** The members of the cycle. */
  members: List<CycleMember>;
  /** The number of the cycle, from 1. */
  number: number;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** Self cost of all members. */
  self: Costs;
}

/** The calls whose removal breaks most of a cycle. */
export interface CycleBreaker {
  /** The callee. */
  callee: Named;
  /** The caller. */
  caller: Named;
  /** `true` if all other arcs were tried. */
  is_best: boolean;
  /** The count of functions that are then still in cycles. */
  members_left: number;
}

/** Calls from outside to a member of a cycle. */
export interface CycleEntry {
  /** The member that is called. */
  callee: Named;
  /** The caller, outside of the cycle. */
  caller: Named;
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost of the calls. */
  cost: Costs;
  /** `true` if the cost is an estimate. */
  cost_estimated?: boolean;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
}

/** A member of a cycle. */
export interface CycleMember {
  /** The number of the cycle that the function is in, if any. */
  cycle: number | null;
  /** The source file; empty or `???` if it is not known. */
  file: string;
  /**
   * The id of the function. It stays the same as long as the files of the profile and the options that fold
   * functions do.
   */
  id: number;
  /** Inclusive cost. */
  inclusive: Costs;
  /** `true` if the inclusive cost is an estimate. */
  inclusive_estimated?: boolean;
  /** The demangled name. Bytes that are not UTF-8 are U+FFFD here. */
  name: string;
  /** The program or library; empty or `???` if it is not known. */
  object: string;
  /** Self cost. */
  self: Costs;
  /** `true` if the self cost is an estimate. */
  self_estimated?: boolean;
}

/** A reason why the numbers of a file are not those of the recording: it is cut off, or has errors. */
export interface Damage {
  /** The kind of damage. */
  kind:
    | "cut-off"
    | "packing"
    | "totals"
    | "calls"
    | "counted-twice"
    | "repeated"
    | "mixed"
    | "errors"
    | "events"
    | "wrapped"
    | "other";
  /** The event type that the costs are of, if the file states a cost that its lines do not have. */
  event: string | null;
  /** The file. */
  file: string;
  /** The sum of its lines. */
  found: Exact | null;
  /** The line, or the first line of the part. */
  line: number;
  /** The cost that the file states. */
  stated: Exact | null;
  /** The sentence that people see. */
  text: string;
}

/** A difference: the changes from a base to a new profile, and their causes. */
export interface Diff {
  /** The count of all functions, or of all groups. */
  all: number;
  /** The files of each run of the base. */
  base_runs: string[][];
  /**
   * The causes of the change of the first event type. Their effects, those of `other_causes` and `remainder`
   * add up to the change of the total. There is none with `--group` or `--filter`.
   */
  causes: Cause[];
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /**
   * The rows that are shown, in order. The changes of their self costs, those of `rest` and `remainder` add
   * up to the change of the total.
   */
  functions: DiffRow[];
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** The count of functions that are in the new profile only. */
  new: number;
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** The count of functions that are on both sides. */
  on_both: number;
  /** The causes that are not shown. */
  other_causes: OtherCauses;
  /**
   * The path of calls with the greatest change of the first event type, from the start of the program to
   * where the change splits. There is none with `--group` or `--filter`.
   */
  path: StepRow[];
  /**
   * The change of the total less the changes of all functions, or of all groups: 0 unless a side has several
   * runs, as medians do not add up.
   */
  remainder: Costs;
  /** The rows that changed and are not shown. */
  rest: Rest;
  /** The sums of all self costs. */
  totals: Changes;
  /** The count of functions that are in the base only. */
  vanished: number;
}

/** A function on both sides, with its callers, callees and source lines. */
export interface DiffFunction {
  /** The files of each run of the base. */
  base_runs: string[][];
  /** Its callees, the greatest change first. */
  callees: ChangedCall[];
  /** Its callers, the greatest change first. */
  callers: ChangedCall[];
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /** The function. */
  function: DiffRow;
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** Its source lines, by file and position. */
  lines: ChangedLine[];
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** The sums of all self costs. */
  totals: Changes;
}

/** A function or a group of functions on both sides. */
export interface DiffRow {
  /** Its name in the base, if it is a different one. */
  base_name: string | null;
  /** The callers whose calls of it changed most, at most five. */
  callers: CallerRow[];
  /** The count of calls of it. */
  calls: Change;
  /** Its source file; empty for a group. */
  file: string;
  /** The function's id, the same in every report on these profiles. Missing for a group. */
  id?: number | null;
  /** Inclusive cost by event type. */
  inclusive: Changes;
  /**
   * `true` if inclusive costs may be less, or also more if costs can be below 0: calls that leave a group and
   * come back are counted each time. Missing if `false`.
   */
  inclusive_is_upper_bound?: boolean;
  /** The join rules that made it one function; see `gristmill diff --list-rules`. */
  joined_by: string[];
  /** Its name, as the new profile has it, or else the base. */
  name: string;
  /** Its object; empty for a group. */
  object: string;
  /** The sides that it is on. */
  on: Presence;
  /** The reasons to consider it renamed, if it may be. */
  renamed: RenameRow | null;
  /** Self cost by event type. */
  self: Changes;
}

/**
 * The call trees of both sides, joined by path. The tree of each side is made by itself. A node is a path of
 * joined functions from the start of the program, with its costs on both sides. It is marked if the number of
 * a side is an estimate. Siblings are in the order of the size of their change.
 */
export interface DiffTree {
  /** The files of each run of the base. */
  base_runs: string[][];
  /** The origin of the trees; if it is not the same for all runs, that of the least certain one. */
  basis: Basis;
  /** The reasons why the numbers of a side are not those of its recording. Empty if all files are whole. */
  damage: Damage[];
  /** The directories that both sides were built in. */
  directories: DirectoryRow[];
  /** Differences besides the program, which can make costs incomparable. */
  environment: EnvironmentRow[];
  /** The event types that are shown, in order: the keys of all costs. */
  event_types: string[];
  /** The same event types with what is known of them. */
  events: EventColumn[];
  /** The functions of the nodes, in the order of their first node. */
  functions: DiffTreeEntry[];
  /** The rules that joined functions of both sides. */
  joined: JoinRow[];
  /** The files of each run of the new side. */
  new_runs: string[][];
  /** The nodes that are shown. The first one is the root. */
  nodes: DiffTreeNode[];
  /** The sums of all self costs. */
  totals: Changes;
}

/** A function, a cycle or the program, which nodes stand for. */
export interface DiffTreeEntry {
  /** The kind of the entry. */
  kind: EntryKind;
  /** The name in the base, if it is a different one. */
  base_name: string | null;
  /** The source file; empty if it is not known. */
  file: string;
  /**
   * The id of the function, the same in every report on these profiles; null for the program, for a cycle,
   * and in a tree of recorded callers.
   */
  id: number | null;
  /** The names of the cycle's members, for a cycle. */
  members: string[];
  /** The name, as the new profile has it, or else the base. */
  name: string;
  /** The program or library; empty if it is not known. */
  object: string;
}

/** A node of a `DiffTree`, which has an example. */
export interface DiffTreeNode {
  /** The count of calls made by the node above. 0 if calls were not counted. */
  calls: Change;
  /** `true` if the count of calls is an estimate on a side. */
  calls_guessed?: boolean;
  /** The depth: 0 for the root, 1 for the nodes right below it, and so on. */
  depth: number;
  /** The index in `functions` of what the node stands for. */
  function: number;
  /**
   * `true` if the inclusive cost of a side is an estimate, or if its profile states another cost for the
   * calls.
   */
  guessed: boolean;
  /** The count of nodes right below that are left out, at least. */
  hidden: number;
  /** The cost of the node and of all nodes below by event type, hidden ones included. */
  inclusive: Changes;
  /** The index in `nodes` of the node above, which comes before this one; null for the root. */
  parent: number | null;
  /** Self cost by event type. */
  self: Changes;
  /** `true` if the division of the cost among self cost and callees is an estimate on a side. */
  self_guessed: boolean;
}

/** Directories that both sides were built in. */
export interface DirectoryRow {
  /** The directory in the base. */
  base: string;
  /** The directory in the new profile. */
  new: string;
  /** The count of paths that it joined. */
  paths: number;
}

/** The part of an effect that one function has. */
export interface EffectRow {
  /** The change of its self cost. */
  effect: Exact;
  /** The function. */
  function: FunctionRef;
}

/** The kind of an `Entry`. */
export type EntryKind = "program" | "function" | "cycle";

/** The kind of a difference of environments. */
export type EnvironmentKind =
  | "events"
  | "producer"
  | "version"
  | "command"
  | "description"
  | "positions"
  | "functions"
  | "callers"
  | "symbols"
  | "other";

/** Something that differs besides the program. */
export interface EnvironmentRow {
  /** The kind of the difference. */
  kind: EnvironmentKind;
  /** The values in the base. */
  base: string[];
  /** The values in the new side. */
  new: string[];
  /** The difference as a sentence. */
  text: string;
}

/** An event type, recorded or derived. */
export interface EventColumn {
  /** The formula that derives it. `null` for a recorded event type. */
  formula: string | null;
  /** The name for people. `null` if there is none. */
  long_name: string | null;
  /** The name; the second event type of the same name ends with `#2`. */
  name: string;
  /** The unit of its costs, such as `10 ns`. `null` for a count. */
  unit: string | null;
}

/** An event type that can be shown. */
export interface EventType {
  /** The formula that derives it. `null` for a recorded event type. */
  formula: string | null;
  /** The name for people. `null` if there is none. */
  long_name: string | null;
  /** The name; the second event type of the same name ends with `#2`. */
  name: string;
  /** The sum of self costs of the selected parts. Null if a formula cannot be calculated. */
  total: Exact | null;
  /** The unit of its costs, such as `10 ns`. `null` for a count. */
  unit: string | null;
}

/** An integer: a number up to 2^53 in magnitude, a decimal string beyond. */
export type Exact = number | string;

/** A finding. */
export interface FindingRow {
  /** The file. */
  file: string;
  /** The line. */
  line: number;
  /** The name of the rule. */
  rule: string;
  /** `error`, `warning` or `note`. */
  severity: string;
  /** The sentence. */
  text: string;
}

/** The findings of `gristmill lint`. */
export interface Findings {
  /** The count of findings. */
  all: number;
  /** The first findings of each rule in each file. */
  rows: FindingRow[];
  /** The rules that found something, the most severe first in each file. */
  rules: RuleSummary[];
  /** The sentence that judges each file, a line each. */
  verdict: string;
}

/** A flame graph. Each list has an item for each frame; a frame comes after its parent. */
export interface Flame {
  /** The origin of the tree, and with it the certainty of the frames. */
  basis: Basis;
  /** By frame: the count of calls from its parent. */
  calls: Calls[];
  /** By frame: the distance from the root. */
  depth: number[];
  /**
   * By frame: the index in `functions`. -1 for frames of one parent that are merged because each is narrow.
   */
  function: number[];
  /** The things that frames stand for. */
  functions: FlameFunction[];
  /** The part of the root's cost that is placed by a guess. Null if the tree is no estimate. */
  guessed: Costs | null;
  /** The head of the report. */
  head: Head;
  /** By frame: its costs. */
  inclusive: Costs[];
  /** By frame: `true` if its place is a guess. */
  is_guessed: boolean[];
  /** By frame: `true` if its self cost is a guess. */
  is_self_guessed: boolean[];
  /** By frame: the count of frames that it stands for: more than 1 if it is merged. */
  merged: number[];
  /** By frame: the index of its parent. -1 for the root. */
  parent: number[];
  /** By frame: its self costs. */
  self: Costs[];
  /** By frame: the width, in shares of the root. */
  width: number[];
  /** By frame: the left edge, in shares of the root: 0 to 1. */
  x: number[];
}

/** The thing that a frame stands for. */
export interface FlameFunction {
  /** The sum of its inclusive costs over all frames, outermost ones only: what a search counts. */
  all: Costs;
  /** The source file; empty if it is not known. */
  file: string;
  /** The id of the function. Null for the program and for a cycle. */
  id: number | null;
  /** The name. */
  name: string;
  /** The program or library; empty if it is not known. */
  object: string;
}

/** The order of the frames of one parent. */
export type FlameOrder = "cost" | "name";

/** The function that a link names. */
export interface Found {
  /** The id. Null if there is no such function in the scope. */
  function: number | null;
}

/** A function at an address. */
export interface Frame {
  /** The source file. null if it is unknown. */
  file: string | null;
  /** The name. null if it is unknown. */
  function: string | null;
  /**
   * The line: where the next frame was inlined, or that of the instruction for the last one. null if it is
   * unknown.
   */
  line: number | null;
}

/** A function of either side of a comparison, by its names. An empty file or object stands for any. */
export interface FunctionName {
  /** Its source file. */
  file: string;
  /** The demangled name. */
  name: string;
  /** Its object. */
  object: string;
}

/** A function that a row refers to. */
export interface FunctionRef {
  /** Its source file. */
  file: string;
  /** The function's id, the same in every report on these profiles. */
  id: number;
  /** Its name, as the new profile has it, or else the base. */
  name: string;
  /** Its object. */
  object: string;
}

/** A function or a group of functions with its costs. */
export interface FunctionRow {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** The number of the cycle that the row is in or stands for, if any. */
  cycle: number | null;
  /** The source file; empty or `???` if it is not known, and for a group. */
  file: string;
  /**
   * The id of the function, null for a group. It stays the same as long as the files of the profile and the
   * options that fold functions do.
   */
  id: number | null;
  /** Inclusive cost. */
  inclusive: Costs;
  /**
   * `true` if the inclusive cost is an estimate, for the same reason, or as calls leave a group and come back
   * and costs can be below 0.
   */
  inclusive_estimated?: boolean;
  /**
   * `true` if the inclusive cost is an upper limit: its calls add up to more than the total, calls leave a
   * group and come back, or, with --no-cycles, calls of a recursion count what they have in common more than
   * once.
   */
  inclusive_is_upper_bound?: boolean;
  /** The demangled name, or the name of the group. */
  name: string;
  /** The program or library; empty or `???` if it is not known, and for a group. */
  object: string;
  /**
   * Rates of misses, if they were asked for: of the self cost, or of the inclusive cost if rows are sorted by
   * that.
   */
  rates?: Rate[];
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** Self cost. */
  self: Costs;
  /**
   * `true` if the self cost is an estimate: functions are hidden or focused on, and several callers share a
   * cost.
   */
  self_estimated?: boolean;
  /** The most expensive functions or groups of another kind within the group, if they were asked for. */
  within?: FunctionRow[];
  /** The count of rows within the group that are left out. */
  within_hidden?: number;
}

/** A page of functions or groups. */
export interface FunctionsPage {
  /** The count of all rows that match. */
  all: number;
  /** The head of the report. */
  head: Head;
  /** The sum of the self costs of all rows that match. */
  matched: Costs;
  /** The rows of the page. */
  rows: FunctionRow[];
  /** The row that the page begins with. */
  start: number;
}

/** A call graph with its layout. */
export interface Graph {
  /** The count of functions that would be shown without the limits. */
  all_nodes: number;
  /** The calls. */
  arcs: GraphArc[];
  /** The id of the function in the middle. Null without one. */
  around: number | null;
  /** The boxes around functions of one group. */
  clusters: GraphCluster[];
  /** The head of the report. */
  head: Head;
  /** The height of the picture. */
  height: number;
  /** The functions and cycles. */
  nodes: GraphNode[];
  /** The width of the picture, in pixels at normal size. */
  width: number;
}

/** Calls in a call graph. */
export interface GraphArc {
  /** The index of the callee in `nodes`. */
  callee: number;
  /**
   * The index of the caller in `nodes`. The cost and the count are those of the whole scope, not only of
   * calls that come through the function in the middle.
   */
  caller: number;
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost of the calls. */
  cost: Costs;
  /** `true` if the cost is an estimate, because functions are hidden or focused on. */
  cost_is_estimate: boolean;
  /** `true` if the calls are inside of a cycle. */
  is_inner: boolean;
  /** The middle of its label. */
  label: [number, number];
  /** The points of its cubic Bézier curves: a start, then three points for each curve. */
  points: [number, number][];
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
}

/** A box around functions of one group. */
export interface GraphCluster {
  /** Left edge, upper edge, width, height. */
  bounds: [number, number, number, number];
  /** The name of the group. */
  name: string;
}

/** A function or a cycle in a call graph. */
export interface GraphNode {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /**
   * The costs with respect to the function in the middle: what it spends in here, or what of it comes through
   * here. The inclusive cost without one.
   */
  cost: Costs;
  /** `true` if `cost` is an estimate. */
  cost_is_estimate: boolean;
  /** The number of the cycle that the row is in or stands for, if any. */
  cycle: number | null;
  /** The source file; empty or `???` if it is not known, and for a group. */
  file: string;
  /** The height of the box. */
  height: number;
  /** The count of callees that are not shown. */
  hidden_callees: number;
  /** The inclusive cost of the calls to them. */
  hidden_callees_cost: Costs;
  /** `true` if that is an estimate. */
  hidden_callees_is_estimate: boolean;
  /** The count of callers that are not shown. */
  hidden_callers: number;
  /** The inclusive cost of their calls. */
  hidden_callers_cost: Costs;
  /** `true` if that is an estimate. */
  hidden_callers_is_estimate: boolean;
  /**
   * The id of the function, null for a group. It stays the same as long as the files of the profile and the
   * options that fold functions do.
   */
  id: number | null;
  /** Inclusive cost. */
  inclusive: Costs;
  /**
   * `true` if the inclusive cost is an estimate, for the same reason, or as calls leave a group and come back
   * and costs can be below 0.
   */
  inclusive_estimated?: boolean;
  /**
   * `true` if the inclusive cost is an upper limit: its calls add up to more than the total, calls leave a
   * group and come back, or, with --no-cycles, calls of a recursion count what they have in common more than
   * once.
   */
  inclusive_is_upper_bound?: boolean;
  /** `true` for the function in the middle. */
  is_center: boolean;
  /** The demangled name, or the name of the group. */
  name: string;
  /** The program or library; empty or `???` if it is not known, and for a group. */
  object: string;
  /**
   * Rates of misses, if they were asked for: of the self cost, or of the inclusive cost if rows are sorted by
   * that.
   */
  rates?: Rate[];
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** Self cost. */
  self: Costs;
  /**
   * `true` if the self cost is an estimate: functions are hidden or focused on, and several callers share a
   * cost.
   */
  self_estimated?: boolean;
  /** The width of the box. */
  width: number;
  /** The most expensive functions or groups of another kind within the group, if they were asked for. */
  within?: FunctionRow[];
  /** The count of rows within the group that are left out. */
  within_hidden?: number;
  /** The left edge of the box. */
  x: number;
  /** The upper edge of the box. */
  y: number;
}

/** The thing that a row or a box stands for. */
export type Group = "function" | "object" | "file" | "directory" | "class" | "crate" | "package" | "cycle";

/** The members that all reports on one profile have in common. */
export interface Head {
  /** The program that wrote the profile. */
  creator: string | null;
  /** The reasons why the numbers are not those of the recording. Empty if all files are whole. */
  damage: Damage[];
  /**
   * The event types that are shown, in order: the keys of all costs. The second one of the same name ends
   * with `#2`.
   */
  event_types: string[];
  /** The same event types, described. */
  events: EventColumn[];
  /** The count of lines that could not be taken as they are. `gristmill lint` lists them. */
  findings: number;
  /** Remarks on the profile and on the view: one sentence each. */
  notes: string[];
  /** The event types that are not shown. */
  other_event_types: string[];
  /** The count of parts of the profile. */
  parts: number;
  /** The count of selected parts. */
  selected_parts: number;
  /** The program that was measured, or the files if the profile does not name it. */
  title: string;
  /** Sums of self cost over the selected parts. */
  totals: Costs;
}

/** A source line, or an instruction if lines are not known. */
export interface HotLine {
  /** The first and the last address of the instructions. */
  addresses: [Exact, Exact] | null;
  /** The calls that the line makes. */
  calls: CalledFunction[];
  /** The source file, which for inlined code is not that of the function. */
  file: string;
  /** Self cost and inclusive cost of the calls, without those inside of a recursion. */
  inclusive: Costs;
  /** The line number; null if it is not known, and then each address is a row. */
  line: number | null;
  /** Self cost. */
  self: Costs;
  /** The text of the source line; null if the source was not found, or has no such line. */
  text: string | null;
}

/** An instruction, or an address with costs. */
export interface Instruction {
  /** The address, such as 0x4014f0. */
  address: string;
  /** The calls made here. */
  calls: AssembledCall[];
  /**
   * The function and the functions that were inlined, each into the one before. Without a program, the line
   * of the profile. Empty if nothing is known.
   */
  frames: Frame[];
  /** true if the profile has a self cost here. */
  has_cost: boolean;
  /** The jumps that start here. */
  jumps: AssembledJump[];
  /** The count of bytes. null if there is no program, or it has no instruction here. */
  length: number | null;
  /** The self cost. */
  self: Costs;
  /** The address that a jump or call with a fixed target leads to. */
  target: string | null;
  /** The instruction, likewise. */
  text: string | null;
}

/** The functions that a rule joined. */
export interface JoinRow {
  /** The name of one of them in the base. */
  example_base: string | null;
  /** Its name in the new profile. */
  example_new: string | null;
  /** The count of functions. */
  functions: number;
  /** The rule's name; see `gristmill diff --list-rules`. */
  rule: string;
}

/** The jumps inside of a function. */
export interface JumpSummary {
  /** The count of those that are conditional. */
  conditional: number;
  /** The count of pairs of positions with jumps between them. */
  jumps: number;
  /** The count of jumps that were taken. */
  taken: Exact;
}

/** A list of which only the first rows may be shown. */
export interface List<T> {
  /** The count of all rows. */
  all: number;
  /** The rows that are shown. */
  rows: T[];
}

/** A file that was loaded. */
export interface LoadedFile {
  /** The size in bytes. */
  bytes: number;
  /** The name that it was given by. */
  name: string;
}

/** The functions of a tree that match a pattern, with their cost. */
export interface Matches {
  /** The count of functions that match. */
  functions: number;
  /** `true` if the cost of one of these nodes is an estimate. */
  is_guessed: boolean;
  /** `true` if there are nodes beyond the limit of a tree, so that the numbers may be greater. */
  is_lower_bound: boolean;
  /** The inclusive cost of these nodes: each cost once. */
  matched: Costs;
  /** The count of their nodes that are not below another node that matches. */
  nodes: number;
}

/** A function as the rows of reports name it. */
export interface Named {
  /** The number of the cycle that the function is in, if any. */
  cycle: number | null;
  /** The source file; empty or `???` if it is not known. */
  file: string;
  /**
   * The id of the function. It stays the same as long as the files of the profile and the options that fold
   * functions do.
   */
  id: number;
  /** The demangled name. Bytes that are not UTF-8 are U+FFFD here. */
  name: string;
  /** The program or library; empty or `???` if it is not known. */
  object: string;
}

/** A caller or a callee, direct or farther away. */
export interface Neighbour {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost of the calls; at a distance of more than 1, inclusive cost of the caller or callee. */
  cost: Costs;
  /**
   * `true` if the cost is an estimate: functions are hidden or focused on, and several callers share a cost.
   */
  cost_estimated?: boolean;
  /** `true` if the cost is an upper limit, as that of the function is. The cost of direct calls is exact. */
  cost_is_upper_bound?: boolean;
  /** The number of the cycle that the function is in, if any. */
  cycle: number | null;
  /** The least count of calls between it and the function. */
  distance: number;
  /** The source file; empty or `???` if it is not known. */
  file: string;
  /**
   * The id of the function. It stays the same as long as the files of the profile and the options that fold
   * functions do.
   */
  id: number;
  /** `true` if the calls are inside of the function's cycle, or from the function to itself. */
  inner: boolean;
  /** The demangled name. Bytes that are not UTF-8 are U+FFFD here. */
  name: string;
  /** The program or library; empty or `???` if it is not known. */
  object: string;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** At a distance of more than 1: the most expensive function one call nearer. */
  via: string | null;
}

/** A command that tells more. */
export interface NextStep {
  /** A phrase that says what it shows. */
  about: string;
  /** The command, quoted for a shell. */
  command: string;
}

/** The causes that are not shown. */
export interface OtherCauses {
  /** The sum of their effects. */
  effect: Exact;
  /** Their count. */
  number: number;
}

/**
 * The first screen of a profile: the hottest functions, the most expensive path of calls, shares by object,
 * source file, thread and part, and commands that tell more.
 */
export interface Overview {
  /** The program that wrote the profile. */
  creator: string | null;
  /** The reasons why the numbers are not those of the recording. Empty if all files are whole. */
  damage: Damage[];
  /**
   * The event types that are shown, in order: the keys of all costs. The second one of the same name ends
   * with `#2`.
   */
  event_types: string[];
  /** The same event types, described. */
  events: EventColumn[];
  /** The count of lines that could not be taken as they are. `gristmill lint` lists them. */
  findings: number;
  /** The count of functions. */
  function_count: number;
  /** The functions of the highest self cost. */
  hottest: FunctionRow[];
  /** Commands that tell more, unless they are not wanted. */
  next: NextStep[];
  /** Remarks on the profile and on the view: one sentence each. */
  notes: string[];
  /** The event types that are not shown. */
  other_event_types: string[];
  /** The count of parts of the profile. */
  parts: number;
  /** The most expensive path of calls. `null` if the profile has no calls. */
  path: CallPath | null;
  /** The count of selected parts. */
  selected_parts: number;
  /** Self costs by object, source file, thread and part. */
  shares: Shares;
  /** The program that was measured, or the files if the profile does not name it. */
  title: string;
  /** Sums of self cost over the selected parts. */
  totals: Costs;
}

/** The costs of a function in one part. */
export interface PartRow {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost. */
  inclusive: Costs;
  /** The name of the part: its number, and its thread, process and file if there are several of them. */
  name: string;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** Self cost. */
  self: Costs;
}

/** A part. */
export interface PartSummary {
  /** The name of its file. */
  file: string;
  /** `true` if it is in the scope. */
  is_selected: boolean;
  /** The number of the part. */
  part: number | null;
  /** The number of its process. */
  process: number | null;
  /** Self cost. */
  self: Costs;
  /** The number of its thread. */
  thread: number | null;
  /** The range of time, in basic blocks, as the file has it. */
  time_range: string | null;
  /** The reason why it was written. */
  trigger: string | null;
}

/** Parts, threads and processes. */
export interface Parts {
  /** The count of all parts: a profile can have millions. */
  all: number;
  /** The event types of the costs. */
  head: Head;
  /** The parts in the order of the files, selected or not. */
  parts: PartSummary[];
}

/** The reason why a `CallPath` ends. */
export type PathEnd = "leaf" | "self-cost" | "branches" | "cycle" | "length";

/** A step of a `CallPath`. */
export interface PathStep {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** The number of the cycle. */
  cycle: number | null;
  /** The source file; empty or `???` if it is not known. */
  file: string;
  /** The id of the function, null for a cycle. */
  id: number | null;
  /** The cost of the calls along the path; of a member of a cycle its self cost. */
  inclusive: Costs;
  /** `true` if other calls lead to the caller as well: it is assumed that all of its calls cost the same. */
  is_estimate: boolean;
  /** `true` for code that starts the program or a thread. */
  is_start_up: boolean;
  /** The count of the cycle's members, 0 for a function. */
  members: number;
  /** The demangled name of the function, or that of the member of the cycle with the highest self cost. */
  name: string;
  /** The program or library; empty or `???` if it is not known. */
  object: string;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** Self cost of the function or cycle, over all of its calls. */
  self: Costs;
}

/** The sides that a function is on. */
export type Presence = "both" | "vanished" | "new";

/** The program of an object of the profile. */
export interface Program {
  /** The count of those that agree. */
  agreeing: number;
  /** The count of facts of the profile that were compared with it. */
  checked: number;
  /** The path of the file that was read. null if there is none. */
  found_at: string | null;
  /** true if it says which functions were inlined. */
  has_inlining: boolean;
  /** true if it has source lines. */
  has_lines: boolean;
  /** Advice. */
  hint: string | null;
  /** true if it has no symbol table. */
  is_stripped: boolean;
  /** The path as the profile has it; empty or ??? if it is unknown. */
  object: string;
  /** The problem, in a sentence. */
  problem: string | null;
  /**
   * The state: the recorded program, one that may be another build, one without symbols to compare, another
   * program, or none.
   */
  state: "same" | "uncertain" | "unchecked" | "other" | "missing" | "unnamed" | "unreadable" | "invalid";
}

/**
 * A question. A function is meant by its id, which rows have, and which stays the same as long as the files
 * and the folding of the scope do.
 */
export type Question =
  | {
      kind: "summary";
    }
  | {
      kind: "overview";
      /** The most rows of each list. */
      limit: number;
    }
  | {
      kind: "functions";
      /** `true` for the least first. */
      ascending: boolean;
      /** The most rows of the page. */
      count: number;
      /** The pattern that names must match; empty for all. */
      filter: string;
      /** The thing that a row stands for. */
      group: Group;
      /** The key that decides the order. */
      sort: Sort;
      /** The first row of the page. */
      start: number;
      /** Only functions of the group with this name, of the kind `within`. */
      within: Within | null;
    }
  | {
      kind: "function";
      /** The greatest distance of callers and callees; 1 stands for direct ones. */
      depth: number;
      /** The function. */
      function: number;
      /** The most rows of each list. */
      limit: number;
    }
  | {
      kind: "find";
      /** Its source file. */
      file: string;
      /** The demangled name. */
      name: string;
      /** Its object. */
      object: string;
    }
  | {
      kind: "search";
      /** `true` if the text is a pattern. */
      is_pattern: boolean;
      /** The most results of each kind. */
      limit: number;
      /** The text, in any case unless it has a capital. */
      text: string;
    }
  | {
      kind: "tree";
      /** The function that it begins with instead of the program. */
      from: number | null;
      /** `true` for callers below what they call. */
      inverted: boolean;
      /** The most nodes. */
      limit: number;
      /** The most levels below the root. */
      max_depth: number;
      /** Leaves out nodes below this share of the root, in thousandths. */
      min_share: number;
    }
  | {
      kind: "flame";
      /** The function that it begins with instead of the program. */
      from: number | null;
      /** `true` for callers above what they call. */
      inverted: boolean;
      /** The order of frames of one parent. */
      order: FlameOrder;
      /** Frames below the whole width divided by this are merged into one. */
      resolution: number;
      /**
       * The frame that is as wide as the picture, by the names of functions that lead to it from below the
       * root; empty for all.
       */
      zoom: string[];
    }
  | {
      kind: "graph";
      /** The function in the middle; none for the most expensive functions of the program. */
      around: number | null;
      /** The levels of callees, at most. */
      callees: number;
      /** The levels of callers, at most. */
      callers: number;
      /** The groups that boxes are drawn around. */
      cluster: Group;
      /** Leaves out functions and calls below this share of the function in the middle, in thousandths. */
      min_share: number;
      /** The most functions. */
      nodes: number;
    }
  | {
      kind: "treemap";
      /** `true` for callers. */
      callers: boolean;
      /** The function of the whole rectangle; none for the program. */
      from: number | null;
      /** The height of the whole rectangle, in pixels. */
      height: number;
      /** The width of the whole rectangle, in pixels. */
      width: number;
    }
  | {
      kind: "matches";
      /** The function that the picture begins with instead of the program. */
      from: number | null;
      /** `true` for a picture of callers. */
      inverted: boolean;
      /** The pattern. */
      pattern: string;
    }
  | {
      kind: "source";
      /** The file, by its path in the profile; none for that of the function. */
      file: string | null;
      /** The function whose lines these are. None for all functions of the file. */
      function: number | null;
    }
  | {
      kind: "assembly";
      /** The function. */
      function: number;
    }
  | {
      kind: "parts";
    }
  | {
      kind: "findings";
      /** The most findings. */
      limit: number;
    }
  | {
      kind: "changes";
      /** The pattern that names must match; empty for all. */
      filter: string;
      /** The thing that a row stands for. */
      group: Group;
      /** The most rows. */
      limit: number;
      /** The key that decides the order. */
      sort: ChangeSort;
    }
  | {
      kind: "changes_tree";
      /** The most nodes. */
      limit: number;
      /**
       * Leaves out nodes whose change is below this share of the greatest change of a node, in thousandths.
       */
      min_share: number;
    }
  | {
      kind: "changes_page";
      /** The most rows of the page. */
      count: number;
      /** The pattern that names must match; empty for all. */
      filter: string;
      /** The thing that a row stands for. */
      group: Group;
      /** The side that the rows are on. */
      side: ChangedSide;
      /** The key that decides the order, and what is worse and better. */
      sort: ChangeSort;
      /** The first row of the page. */
      start: number;
    }
  | {
      kind: "changes_flame";
      /** The function that it begins with instead of the program. */
      from: FunctionName | null;
      /** `true` for callers above what they call. */
      inverted: boolean;
      /** The order of frames of one parent. */
      order: FlameOrder;
      /** Frames below the whole width divided by this are merged into one. */
      resolution: number;
      /**
       * The frame that is as wide as the picture, by the names of functions that lead to it from below the
       * root; empty for all.
       */
      zoom: string[];
    }
  | {
      kind: "changes_treemap";
      /** `true` for callers. */
      callers: boolean;
      /** The function of the whole rectangle; none for the program. */
      from: FunctionName | null;
      /** The height of the whole rectangle, in pixels. */
      height: number;
      /** The width of the whole rectangle, in pixels. */
      width: number;
    }
  | {
      kind: "changes_graph";
      /** The function in the middle; none for the functions that changed most. */
      around: FunctionName | null;
      /** The levels of callees, at most. */
      callees: number;
      /** The levels of callers, at most. */
      callers: number;
      /** The groups that boxes are drawn around. */
      cluster: Group;
      /**
       * Leaves out functions and calls below this share of the larger side of the function in the middle, in
       * thousandths.
       */
      min_share: number;
      /** The most functions. */
      nodes: number;
    }
  | {
      kind: "changed_function";
      /** The function. Without a file and an object, it is that which a person means by the name. */
      function: FunctionName;
    };

/** The rate of misses, or of wrong predictions. */
export interface Rate {
  /** The count of accesses, or of branches. */
  accesses: Exact;
  /** The meaning. */
  meaning: string;
  /** The count of misses, or of wrong predictions. */
  misses: Exact;
  /** `I1 miss`, `D1 miss`, `LL miss` or `Mispred`. */
  name: string;
}

/** The reasons to consider a function renamed. */
export interface RenameRow {
  /** The count of callers of the one that has more. */
  callers: number;
  /** The count of callers that both have. */
  common_callers: number;
  /** `true` if both are in the same source file. */
  same_file: boolean;
  /** `true` if the names differ in their arguments only, or have long parts in common. */
  similar_name: boolean;
}

/** A question, and what it is asked of. */
export interface Request {
  /** The question. */
  question: Question;
  /** The settings that all views share. */
  scope: Scope;
}

/** The rows that changed and are not shown. */
export interface Rest {
  /** Their count. */
  functions: number;
  /** The sum of the changes of their self costs. */
  self: Costs;
}

/** A rule that found something. */
export interface RuleSummary {
  /** The count of its findings. */
  count: number;
  /** The name of the rule. */
  rule: string;
  /** `error`, `warning` or `note`. */
  severity: string;
  /** The subject of the rule, in a sentence. */
  summary: string;
}

/**
 * The settings that all views share: parts, event types, transforms. The same as the options of a command,
 * with the same spelling.
 */
export interface Scope {
  /** Calls to cut, `CALLER -> CALLEE`, both patterns. */
  cuts: string[];
  /** Event types by formula, `NAME = FORMULA`. */
  derive: string[];
  /**
   * The pattern of functions that are left out with what they call: their cost leaves the total. Empty for
   * none.
   */
  drop: string;
  /**
   * The names of the event types to show, the first of which decides all orders. Empty for the first recorded
   * one.
   */
  events: string[];
  /** The pattern of functions one of which must be on the stack. Empty for none. */
  focus: string;
  /** `true` if functions that differ only in their recorded callers are one. */
  fold_callers: boolean;
  /** `true` if all levels of a recursion are one function. */
  fold_recursion: boolean;
  /** The pattern of functions that are hidden: their cost counts for their callers. Empty for none. */
  hide: string;
  /** `true` if the members of a cycle are not taken as one. */
  no_cycles: boolean;
  /** Parts, as ranges such as `1-3,7`. Empty for all. */
  parts: string;
  /** Processes, as ranges. Empty for all. */
  processes: string;
  /** Threads, as ranges. Empty for all. */
  threads: string;
}

/** Functions, files and objects that contain a text. */
export interface SearchResults {
  /** The count of functions that match. */
  all: number;
  /** The paths of files that match. */
  files: string[];
  /** The functions that match, the most expensive first. */
  functions: FunctionRow[];
  /** The sum of their self costs. */
  matched: Costs;
  /** The paths of objects that match. */
  objects: string[];
}

/** The self cost of a share of the profile. */
export interface Share {
  /** The name of the object, file, thread or part. */
  name: string;
  /** Self cost. */
  self: Costs;
}

/** Shares of the total. */
export interface Shares {
  /** By source file, the highest cost first. */
  files: Share[];
  /** By program or library, the highest cost first. A name is empty or `???` if it is not known. */
  objects: Share[];
  /**
   * By part, or by file if the parts have no numbers, in the order of the files. Empty if there is only one.
   */
  parts: Share[];
  /** By thread, the highest cost first. Empty if there is only one. */
  threads: Share[];
}

/**
 * One function with its costs, callers, callees, cycle, lines and parts. Each list has the count of all of
 * its rows, and the rows that are shown, the most expensive first.
 */
export interface Show {
  /** Self cost of the function, or of its cycle, and inclusive cost of its calls. */
  by_callees: Costs;
  /** Inclusive cost of the function, or of its cycle, as its callers have it; null if nothing calls it. */
  by_callers: Costs | null;
  /** Costs by part, in the order of the files; empty if there is only one part. */
  by_part: List<PartRow>;
  /** Direct callees. */
  callees: List<Neighbour>;
  /** The sum of the calls of all direct callees. */
  callees_sum: CallSum;
  /** Direct callers. */
  callers: List<Neighbour>;
  /** The sum of the calls of all direct callers. */
  callers_sum: CallSum;
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** The program that wrote the profile. */
  creator: string | null;
  /** The cycle that the function is in. */
  cycle: Cycle | null;
  /** The reasons why the numbers are not those of the recording. Empty if all files are whole. */
  damage: Damage[];
  /**
   * The event types that are shown, in order: the keys of all costs. The second one of the same name ends
   * with `#2`.
   */
  event_types: string[];
  /** The same event types, described. */
  events: EventColumn[];
  /** Callees more than one call away, the nearest first. */
  far_callees: List<Neighbour>;
  /** Callers more than one call away, the nearest first. */
  far_callers: List<Neighbour>;
  /** The count of lines that could not be taken as they are. `gristmill lint` lists them. */
  findings: number;
  /** The count of functions of the profile that were folded into this one. */
  folded: number;
  /** The function. */
  function: Named;
  /** Inclusive cost of the function. */
  inclusive: Costs;
  /** `true` if the inclusive cost is an estimate for the same reason. */
  inclusive_estimated?: boolean;
  /**
   * `true` if the inclusive cost is an upper limit: its calls add up to more than the total, or, with
   * --no-cycles, calls of a recursion count what they have in common more than once.
   */
  inclusive_is_upper_bound?: boolean;
  /** `true` if the function calls itself or is in a cycle. */
  is_recursive: boolean;
  /** Jumps inside of the function. */
  jumps: JumpSummary;
  /** Source lines of the function. */
  lines: List<HotLine>;
  /** The count of these functions whose lines were read, if it is smaller: the most expensive ones. */
  lines_of: number | null;
  /** Remarks on the profile and on the view: one sentence each. */
  notes: string[];
  /** The event types that are not shown. */
  other_event_types: string[];
  /** The count of parts of the profile. */
  parts: number;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** The count of selected parts. */
  selected_parts: number;
  /** Self cost of the function. */
  self: Costs;
  /**
   * `true` if the self cost is an estimate: functions are hidden or focused on, and several callers share a
   * cost.
   */
  self_estimated?: boolean;
  /** The program that was measured, or the files if the profile does not name it. */
  title: string;
  /** Sums of self cost over the selected parts. */
  totals: Costs;
}

/** A source file with the lines that instructions come from. */
export interface ShownFile {
  /** The path, as frames have it. */
  file: string;
  /** The lines, ascending. */
  lines: ShownLine[];
}

/** A source line that instructions come from. */
export interface ShownLine {
  /** The line number. */
  line: number;
  /** Its text without what surrounds it. A long one ends with `…`. */
  text: string;
}

/** The counts of rows that changed, by side. A new or vanished row is also a worse or a better one. */
export interface SideCounts {
  /** All that changed. */
  all: number;
  /** Those that cost less now. */
  better: number;
  /** Those that only the base has. */
  gone: number;
  /** Those that only the new profile has. */
  new: number;
  /** Those that cost more now. */
  worse: number;
}

/** The key that decides the order of functions. */
export type Sort = "self_cost" | "inclusive" | "calls" | "per_call" | "name" | "object" | "file";

/** Source text with costs. */
export interface Source {
  /**
   * The files that have lines of it, the most expensive first. The text is that of the first, unless the
   * question names another.
   */
  files: SourceFile[];
  /** The function; null for all functions of a file. */
  function: FunctionRow | null;
  /** The head of the report. */
  head: Head;
  /** The count of lines of text without costs that are left out, because the file is too long. */
  hidden_lines: number;
  /** The lines of the file, all of its text and also lines beyond its end that have costs. */
  lines: SourceLine[];
  /** The index in `files` of the file whose lines these are. Null if there is none. */
  shown: number | null;
  /** The self cost in the file that has no line. */
  without_line: Costs;
}

/** Calls that a line makes to a function. */
export interface SourceCall {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** Inclusive cost of the calls. */
  cost: Costs;
  /** The id of the callee. */
  function: number;
  /** `true` if the calls are inside of a cycle. */
  is_inner: boolean;
  /** Its name. */
  name: string;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
}

/** A file that has lines. */
export interface SourceFile {
  /** The path at which it was found. Null if it was not. */
  found_at: string | null;
  /** The path in the profile. */
  path: string;
  /** The reason why it was not found or may not be that which was measured. Null if there is none. */
  remark: string | null;
  /** The self cost of its lines. */
  self: Costs;
}

/** Jumps from a line to another. */
export interface SourceJump {
  /** The count of times it was reached; null for a jump without a condition. */
  executed: Exact | null;
  /** The count of times it jumped. */
  taken: Exact;
  /** The line. */
  to: number;
}

/** A source line. */
export interface SourceLine {
  /** The calls that the line makes, the most expensive first. */
  calls: SourceCall[];
  /** Self cost and inclusive cost of the calls; null if the line has none. */
  inclusive: Costs | null;
  /** The jumps that begin at the line. */
  jumps: SourceJump[];
  /** The line number. */
  line: number;
  /** Self cost; null if the line has none. */
  self: Costs | null;
  /** Its text, as spans that a page can colour. Empty if the source was not found. */
  text: TextSpan[];
}

/** A step of the path with the greatest change. */
export interface StepRow {
  /** The count of calls from the step before. Missing for the first. */
  calls?: Change | null;
  /** The function. */
  function: FunctionRef;
  /** The inclusive cost of these calls; that of the function for the first step. */
  inclusive: Change;
}

/** The loaded profile. */
export interface Summary {
  /** The profile that this one is compared with. Null without one. */
  base: BaseSummary | null;
  /** The count of calls between two functions, by pair. */
  calls: number;
  /** The count of cycles. */
  cycles: number;
  /** The reasons why the numbers are not those of the recording. */
  damage: Damage[];
  /** All event types that can be shown, recorded ones first, with the cost of the whole profile. */
  event_types: EventType[];
  /** The files. */
  files: LoadedFile[];
  /** The count of lines that could not be taken as they are. */
  findings: number;
  /** The count of functions. */
  functions: number;
  /** The contents of the profile, so that a view can say why it is empty and what to record next time. */
  has: Contents;
  /** The head that all reports have, in the scope of the question. */
  head: Head;
}

/** A part of a source line. */
export interface TextSpan {
  /**
   * The kind: `keyword`, `literal`, `comment`, `number`, `type`, `call`, `directive`; empty for everything
   * else.
   */
  kind: string;
  /** The text. */
  text: string;
}

/** A rectangle of a treemap. */
export interface Tile {
  /** The kind. */
  kind: TileKind;
  /** Left edge, upper edge, width, height, in pixels. */
  bounds: [number, number, number, number];
  /** The distance from the whole. */
  depth: number;
  /** The index in `functions`; null for self cost, and for callees that are too small to draw. */
  function: number | null;
  /** Its cost. */
  inclusive: Costs;
  /** `true` if its place is a guess. */
  is_guessed: boolean;
  /** The count of rectangles that it stands for, if they are too small. */
  merged: number;
  /** The index of the rectangle that it is in; null for the whole. */
  parent: number | null;
}

/** The kind of a rectangle of a treemap. */
export type TileKind = "function" | "self" | "rest";

/**
 * The call tree of a profile. Nodes are in the order in which a tree is printed: each before those below it,
 * siblings by the cost of the first event type. A node has the index of the one above it, so that a tree of
 * any depth can be read without recursion.
 */
export interface Tree {
  /** The origin of the tree. */
  basis: Basis;
  /** The program that wrote the profile. */
  creator: string | null;
  /** The reasons why the numbers are not those of the recording. Empty if all files are whole. */
  damage: Damage[];
  /**
   * The event types that are shown, in order: the keys of all costs. The second one of the same name ends
   * with `#2`.
   */
  event_types: string[];
  /** The same event types, described. */
  events: EventColumn[];
  /** The count of lines that could not be taken as they are. `gristmill lint` lists them. */
  findings: number;
  /** The function that the tree begins with; null for the program. */
  from: string | null;
  /** The functions of the nodes, in the order of their first node. */
  functions: TreeEntry[];
  /** The cost of the root that is placed by a guess; null if the tree is not an estimate. */
  guessed: Costs | null;
  /**
   * `true` if callers are below what they call. Without a function that the tree begins with, each function
   * is right below the program, with its self cost; nodes below have the part of it that comes through them.
   */
  inverted: boolean;
  /** The nodes that are shown. The first one is the root. */
  nodes: TreeNode[];
  /** Remarks on the profile and on the view: one sentence each. */
  notes: string[];
  /** The event types that are not shown. */
  other_event_types: string[];
  /** The count of parts of the profile. */
  parts: number;
  /** The count of selected parts. */
  selected_parts: number;
  /** The program that was measured, or the files if the profile does not name it. */
  title: string;
  /** Sums of self cost over the selected parts. */
  totals: Costs;
}

/** A function, a cycle or the program, which nodes stand for. */
export interface TreeEntry {
  /** The kind of the entry. */
  kind: EntryKind;
  /** The number of the cycle, for a cycle. */
  cycle: number | null;
  /** The source file; empty if it is not known. */
  file: string;
  /**
   * The id of the function; null for the program, for a cycle, and for every entry of a tree of recorded
   * callers. It stays the same as long as the files of the profile and the options that fold functions do.
   */
  id: number | null;
  /** The names of the cycle's members, for a cycle. A viewer gets the first ones. */
  members: string[];
  /** The demangled name. */
  name: string;
  /** The program or library; empty if it is not known. */
  object: string;
}

/** A node of a `Tree`, which has an example. */
export interface TreeNode {
  /**
   * The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined,
   * or the functions do not call each other directly.
   */
  calls: Exact | null;
  /** `true` if the count is an estimate. */
  calls_guessed?: boolean;
  /** The depth: 0 for the root, 1 for the nodes right below it, and so on. */
  depth: number;
  /** The index in `functions` of what the node stands for. */
  function: number;
  /**
   * `true` if some of the cost is placed here by a guess, or if the profile states another cost for the
   * calls.
   */
  guessed: boolean;
  /** The count of nodes right below that are left out. */
  hidden: number;
  /** The cost of the node and of all nodes below, hidden ones included. */
  inclusive: Costs;
  /**
   * `true` if the cost is the inclusive cost of the function, and that is an upper limit: its calls add up to
   * more than the total, or, with --no-cycles, calls of a recursion count what they have in common more than
   * once.
   */
  inclusive_is_upper_bound?: boolean;
  /** The index in `nodes` of the node above, which comes before this one; null for the root. */
  parent: number | null;
  /** The count of the calls that are not inlined, if some are. */
  recorded_calls?: Exact | null;
  /** Self cost. In an inverted tree, the cost that comes from no caller. */
  self: Costs;
  /** `true` if the division of the cost among self cost and callees is a guess. */
  self_guessed: boolean;
}

/** A treemap. A rectangle comes after that which it is in. */
export interface Treemap {
  /** The origin of the tree, and with it the certainty of the rectangles. */
  basis: Basis;
  /** The functions of the rectangles. */
  functions: FlameFunction[];
  /** The part of the root's cost that is placed by a guess. Null if the tree is no estimate. */
  guessed: Costs | null;
  /** The head of the report. */
  head: Head;
  /** The rectangles. */
  tiles: Tile[];
}

/** A group that functions are in. */
export interface Within {
  /** The kind of the group. */
  group: Group;
  /** The name of the group. */
  name: string;
}

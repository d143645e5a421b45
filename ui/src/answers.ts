// Questions and answers, as crates/answers serialises them.

/** A number up to 2^53 in magnitude, a decimal string beyond. */
export type Exact = number | string;
/** Costs by the names of event types. */
export type Costs = Record<string, Exact>;
export type Basis = "exact" | "callers" | "estimate";
export type Group = "function" | "object" | "file" | "directory" | "class" | "crate" | "package" | "cycle";
export type Sort = "self_cost" | "inclusive" | "calls" | "per_call" | "name" | "object" | "file";

export interface Scope {
  events: string[];
  derive: string[];
  parts: string;
  threads: string;
  processes: string;
  hide: string;
  focus: string;
  cuts: string[];
  no_cycles: boolean;
  fold_recursion: boolean;
  fold_callers: boolean;
}
export type Question =
  | { kind: "summary" }
  | { kind: "parts" }
  | { kind: "overview" | "findings"; limit: number }
  | {
      kind: "functions";
      group: Group;
      sort: Sort;
      ascending: boolean;
      filter: string;
      within: { group: Group; name: string } | null;
      start: number;
      count: number;
    }
  | { kind: "function"; function: number; depth: number; limit: number }
  | { kind: "find"; name: string; file: string; object: string }
  | { kind: "search"; text: string; is_pattern: boolean; limit: number }
  | {
      kind: "tree";
      from: number | null;
      inverted: boolean;
      min_share: number;
      max_depth: number;
      limit: number;
    }
  | {
      kind: "flame";
      from: number | null;
      inverted: boolean;
      order: "cost" | "name";
      /** The names from below the root to the frame that is as wide as the picture. */
      zoom: string[];
      resolution: number;
    }
  | {
      kind: "graph";
      around: number | null;
      callers: number;
      callees: number;
      nodes: number;
      min_share: number;
      cluster: Group;
    }
  | { kind: "treemap"; from: number | null; callers: boolean; width: number; height: number }
  | { kind: "source"; function: number | null; file: string | null }
  | { kind: "assembly"; function: number }
  | {
      kind: "changes";
      group: Group;
      sort: "self_change" | "inclusive_change" | "name";
      filter: string;
      limit: number;
    }
  | { kind: "changes_tree"; min_share: number; limit: number }
  | { kind: "changed_function"; name: string };
export interface Request {
  scope: Scope;
  question: Question;
}

export interface EventColumn {
  name: string;
  long_name: string | null;
  unit: string | null;
  formula: string | null;
}
export interface Damage {
  kind: string;
  file: string;
  line: number;
  text: string;
}
export interface Head {
  event_types: string[];
  events: EventColumn[];
  totals: Costs;
  parts: number;
  selected_parts: number;
  damage: Damage[];
  findings: number;
  title: string;
  creator: string | null;
  other_event_types: string[];
  notes: string[];
}
export interface Calls {
  calls: Exact | null;
  recorded_calls?: Exact;
}
export interface Named {
  id: number | null;
  name: string;
  file: string;
  object: string;
  cycle?: number | null;
}
export interface FunctionRow extends Named, Calls {
  self: Costs;
  inclusive: Costs;
  inclusive_is_upper_bound?: boolean;
  self_estimated?: boolean;
  inclusive_estimated?: boolean;
}
export interface Summary {
  head: Head;
  files: { name: string; bytes: number }[];
  event_types: (EventColumn & { total: Exact | null })[];
  functions: number;
  calls: number;
  cycles: number;
  has: {
    calls: boolean;
    call_counts: boolean;
    lines: boolean;
    addresses: boolean;
    several_parts: boolean;
    files: boolean;
  };
  base: { files: string[]; title: string; doubts: string[] } | null;
  damage: Damage[];
  findings: number;
}
export interface PathStep extends Named {
  members: number;
  self: Costs;
  inclusive: Costs;
  is_estimate: boolean;
  calls: Exact;
  is_start_up: boolean;
}
export interface Share {
  name: string;
  self: Costs;
}
export interface Overview extends Head {
  function_count: number;
  hottest: FunctionRow[];
  path: { steps: PathStep[]; end: string; branches: PathStep[] } | null;
  shares: { objects: Share[]; files: Share[]; threads: Share[]; parts: Share[] };
  next: { command: string; about: string }[];
}
export interface FunctionsPage {
  head: Head;
  all: number;
  matched: Costs;
  start: number;
  rows: FunctionRow[];
}
export interface SearchResults {
  all: number;
  matched: Costs;
  functions: FunctionRow[];
  files: string[];
  objects: string[];
}
export interface Neighbour extends Named, Calls {
  distance: number;
  cost: Costs;
  via: string | null;
  inner: boolean;
  cost_estimated?: boolean;
  cost_is_upper_bound?: boolean;
}
export interface List<T> {
  all: number;
  rows: T[];
}
export interface CalledFunction extends Named, Calls {
  cost: Costs;
  inner: boolean;
}
export interface HotLine {
  file: string;
  line: number | null;
  text: string | null;
  self: Costs;
  inclusive: Costs;
  calls: CalledFunction[];
}
/** The sum of the calls of one side, where it differs from the other numbers. */
export interface CallSum extends Calls {
  cost: Costs;
}
export interface Cycle extends Calls {
  number: number;
  self: Costs;
  inclusive: Costs;
  members: List<Named & { self: Costs; inclusive: Costs }>;
  entries: List<{ caller: Named; callee: Named; cost: Costs } & Calls>;
  breaker: { caller: Named; callee: Named; members_left: number; is_best: boolean } | null;
}
export interface Show extends Head, Calls {
  by_callers?: Costs | null;
  by_callees?: Costs;
  callers_sum?: CallSum | null;
  callees_sum?: CallSum | null;
  cycle?: Cycle | null;
  function: Named;
  self: Costs;
  inclusive: Costs;
  inclusive_estimated?: boolean;
  self_estimated?: boolean;
  inclusive_is_upper_bound?: boolean;
  callers: List<Neighbour>;
  callees: List<Neighbour>;
  far_callers: List<Neighbour>;
  far_callees: List<Neighbour>;
  lines: List<HotLine>;
  by_part: List<{ name: string; self: Costs; inclusive: Costs } & Calls>;
  is_recursive: boolean;
  folded: number;
}
export interface TreeEntry {
  kind: "program" | "function" | "cycle";
  id: number | null;
  name: string;
  file: string;
  object: string;
  members: string[];
}
export interface TreeNode extends Calls {
  function: number;
  parent: number | null;
  depth: number;
  self: Costs;
  inclusive: Costs;
  hidden: number;
  guessed: boolean;
  self_guessed: boolean;
}
export interface Tree extends Head {
  basis: Basis;
  guessed: Costs | null;
  functions: TreeEntry[];
  nodes: TreeNode[];
}
export interface FlameFunction {
  id: number | null;
  name: string;
  file: string;
  object: string;
  all: Costs;
}
export interface Flame {
  head: Head;
  basis: Basis;
  guessed: Costs | null;
  functions: FlameFunction[];
  function: number[];
  parent: number[];
  depth: number[];
  x: number[];
  width: number[];
  inclusive: Costs[];
  self: Costs[];
  calls: Calls[];
  is_guessed: boolean[];
  merged: number[];
}
export interface GraphNode extends FunctionRow {
  is_center: boolean;
  cost: Costs;
  cost_is_estimate: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
  hidden_callers: number;
  hidden_callers_cost: Costs;
  hidden_callees: number;
  hidden_callees_cost: Costs;
}
export interface GraphArc extends Calls {
  caller: number;
  callee: number;
  cost: Costs;
  cost_is_estimate: boolean;
  is_inner: boolean;
  points: [number, number][];
  label: [number, number];
}
export interface Graph {
  head: Head;
  around: number | null;
  width: number;
  height: number;
  nodes: GraphNode[];
  arcs: GraphArc[];
  clusters: { name: string; bounds: [number, number, number, number] }[];
  all_nodes: number;
}
export interface Tile {
  kind: "function" | "self" | "rest";
  function: number | null;
  merged: number;
  parent: number | null;
  depth: number;
  bounds: [number, number, number, number];
  inclusive: Costs;
  is_guessed: boolean;
}
export interface Treemap {
  head: Head;
  basis: Basis;
  guessed: Costs | null;
  functions: FlameFunction[];
  tiles: Tile[];
}
export interface SourceCall extends Calls {
  function: number;
  name: string;
  cost: Costs;
  is_inner: boolean;
}
export interface SourceLine {
  line: number;
  text: { kind: string; text: string }[];
  self: Costs | null;
  inclusive: Costs | null;
  calls: SourceCall[];
  jumps: { to: number; taken: Exact; executed: Exact | null }[];
}
export interface Source {
  head: Head;
  function: FunctionRow | null;
  files: { path: string; found_at: string | null; remark: string | null; self: Costs }[];
  shown: number | null;
  lines: SourceLine[];
  /** Lines of text without costs that are left out, because the file is too long. */
  hidden_lines: number;
  without_line: Costs;
}
export interface PartSummary {
  file: string;
  process: number | null;
  thread: number | null;
  part: number | null;
  trigger: string | null;
  time_range: string | null;
  self: Costs;
  is_selected: boolean;
}
export interface Parts {
  head: Head;
  parts: PartSummary[];
  all: number;
}
export interface Findings {
  verdict: string;
  all: number;
  rules: { rule: string; severity: string; summary: string; count: number }[];
  rows: { severity: "error" | "warning" | "note"; rule: string; file: string; line: number; text: string }[];
}
export interface Instruction {
  address: string;
  text: string | null;
  target: string | null;
  has_cost: boolean;
  self: Costs;
  calls: { id: number; name: string; calls: Exact; cost: Costs }[];
  frames: { file: string | null; function: string | null; line: number | null }[];
  jumps: { target: string | null; function: string | null; taken: Exact; executed: Exact | null }[];
}
export interface Assembly extends Head {
  programs: { object: string; found_at: string | null; problem: string | null; hint: string | null }[];
  functions: {
    id: number;
    name: string;
    file: string;
    program: number;
    self: Costs;
    inclusive: Costs;
    instructions: Instruction[];
    is_certain: boolean;
    without_address?: Costs;
  }[];
}
export interface Change {
  base: Exact;
  new: Exact;
  change: Exact;
}
export interface DiffRow {
  id: number | null;
  name: string;
  base_name: string | null;
  file: string;
  object: string;
  on: "both" | "vanished" | "new";
  self: Changes;
  inclusive: Changes;
  calls: Change | null;
}
export interface ChangedNode {
  function: number;
  parent: number | null;
  depth: number;
  calls: Change;
  self: Changes;
  inclusive: Changes;
  hidden: number;
  guessed: boolean;
  self_guessed: boolean;
}
export interface DiffTree extends DiffHead {
  basis: Basis;
  functions: (TreeEntry & { base_name: string | null })[];
  nodes: ChangedNode[];
}
export interface ChangedCall {
  function: FunctionRef;
  calls: Change;
  inclusive: Changes;
}
export interface ChangedLine {
  file: string;
  base_line: number | null;
  new_line: number | null;
  source: string | null;
  self: Changes;
  calls: ChangedCall[];
}
export interface DiffFunction extends DiffHead {
  function: DiffRow;
  callers: ChangedCall[];
  callees: ChangedCall[];
  lines: ChangedLine[];
}
export type Changes = Record<string, Change>;
export interface DiffHead {
  event_types: string[];
  events: EventColumn[];
  base_runs: string[][];
  new_runs: string[][];
  totals: Changes;
  environment: { text: string }[];
  joined: { rule: string; functions: number; example_base: string | null; example_new: string | null }[];
  directories: { base: string; new: string; paths: number }[];
  damage: Damage[];
}
export interface FunctionRef {
  id: number;
  name: string;
  file: string;
}
export interface Cause {
  kind: string;
  text: string;
  effect: Exact;
  size: Exact;
  noise: boolean;
  function: FunctionRef;
}
export interface Diff extends DiffHead {
  on_both: number;
  vanished: number;
  new: number;
  all: number;
  causes: Cause[];
  other_causes?: { number: number; effect: Exact } | null;
  functions: DiffRow[];
  rest: { functions: number; self: Costs };
}

/** The type of the answer to a question. */
export interface Answers {
  summary: Summary;
  overview: Overview;
  functions: FunctionsPage;
  function: Show;
  find: { function: number | null };
  search: SearchResults;
  tree: Tree;
  flame: Flame;
  graph: Graph;
  treemap: Treemap;
  source: Source;
  assembly: Assembly;
  parts: Parts;
  findings: Findings;
  changes: Diff;
  changes_tree: DiffTree;
  changed_function: DiffFunction;
}

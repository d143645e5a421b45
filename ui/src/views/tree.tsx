import { SearchBox } from "../parts/tools";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Tree, TreeNode } from "../answers";
import { callCount, estimatedColumns, grouped, percentOf, visible } from "../format";
import { go, place } from "../place";
import { TREE_LIMITS } from "../shell";
import {
  announce,
  eventName,
  isComparing,
  list,
  root,
  select,
  selected,
  shownEvents,
  startAt,
} from "../state";
import { Status, useAnswer } from "../parts/answer";
import { Cost, Name } from "../parts/cost";
import { searchPattern } from "../parts/frames";
import { Indent } from "../parts/indent";
import { Certainty } from "../parts/picture";
import { NumberHead, Pad, Region, useRows } from "../parts/rows";
import { Export } from "../parts/save";
import { ChangedTree } from "./changed-tree";

const ROW_HEIGHT = 24;
const MAX_FIRST_LEVELS = 17;

export function TreeView() {
  return isComparing.value ? <ChangedTree /> : <PlainTree />;
}

function childrenOf(nodes: TreeNode[]): number[][] {
  const children: number[][] = nodes.map(() => []);
  nodes.forEach((node, index) => {
    if (node.parent !== null) children[node.parent]!.push(index);
  });
  return children;
}

/** The most expensive path from the root, as Firefox's profiler opens it. */
function heaviestPath(nodes: TreeNode[], children: number[][], event: string): number[] {
  if (nodes.length === 0) return [];
  const path = [0];
  while (path.length < MAX_FIRST_LEVELS) {
    const below = children[path.at(-1)!]!;
    const costOf = (index: number) => Number(nodes[index]!.inclusive[event] ?? 0);
    const next = below.reduce((best, index) => (best < 0 || costOf(index) > costOf(best) ? index : best), -1);
    // A branch below half of its caller is no path any more.
    if (next < 0 || costOf(next) * 2 < costOf(path.at(-1)!)) break;
    path.push(next);
  }
  return path;
}

/** The state of a tree: open rows, and the row of the keyboard. */
function useTree(answer: Tree | null) {
  const nodes = answer?.nodes ?? [];
  const children = useMemo(() => childrenOf(nodes), [answer]);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [cursor, setCursor] = useState(-1);
  useEffect(() => {
    const path = heaviestPath(nodes, children, eventName.value);
    setOpen(new Set(path));
    setCursor(path.at(-1) ?? -1);
  }, [answer]);
  const shown = useMemo(() => {
    const isShown: boolean[] = [];
    return nodes.flatMap((node, index) => {
      isShown[index] = node.parent === null || (isShown[node.parent]! && open.has(node.parent));
      return isShown[index] ? [index] : [];
    });
  }, [answer, open]);
  const change = (edit: (next: Set<number>) => void) => {
    const next = new Set(open);
    edit(next);
    setOpen(next);
  };
  const toggle = (index: number) => change((next) => (next.delete(index) ? undefined : next.add(index)));
  const openAll = (from: number) =>
    change((next) => {
      const pending = [from];
      while (pending.length > 0) {
        const index = pending.pop()!;
        next.add(index);
        pending.push(...children[index]!);
      }
    });
  /** Opens the rows above, so that a row is shown. */
  const reveal = (index: number) =>
    change((next) => {
      for (let at = nodes[index]!.parent; at !== null; at = nodes[at]!.parent) next.add(at);
    });
  return { nodes, children, open, shown, cursor, setCursor, toggle, openAll, reveal };
}

/** The level at which the function of a node is above it already; -1 without recursion. */
function outerLevel(nodes: TreeNode[], index: number): number {
  const wanted = nodes[index]!.function;
  for (let at = nodes[index]!.parent; at !== null; at = nodes[at]!.parent) {
    if (nodes[at]!.function === wanted) return nodes[at]!.depth;
  }
  return -1;
}

function PlainTree() {
  const { inverted, filter, rootName } = place.value;
  const from = root.value;
  const isReady = from !== undefined && (rootName === "" || from !== null);
  const { answer, error } = useAnswer(
    isReady ? { kind: "tree", from: from ?? null, inverted, max_depth: 100, ...TREE_LIMITS } : null,
  );
  const tree = useTree(answer);
  const { nodes, shown, cursor } = tree;
  const rows = useRows(shown.length, ROW_HEIGHT);
  const { pattern, problem } = searchPattern(filter);
  const functionOf = (index: number) => answer!.functions[nodes[index]!.function]!;
  const matches = useMemo(
    () =>
      answer && pattern
        ? nodes.flatMap((_, index) => (pattern.test(functionOf(index).name) ? [index] : []))
        : [],
    [answer, filter],
  );
  useEffect(() => {
    if (answer) list.value = shown.map(functionOf);
  }, [answer, shown]);
  useEffect(() => rows.show(shown.indexOf(cursor)), [cursor, shown]);

  const moveTo = (index: number | undefined) => {
    if (index === undefined || !nodes[index]) return;
    tree.setCursor(index);
    select(functionOf(index), undefined, true);
    const cost = nodes[index]!.inclusive[eventName.value];
    const position = `${shown.indexOf(index) + 1} of ${shown.length}`;
    announce.value = `${visible(functionOf(index).name)}, ${percentOf(cost, nodes[0]!.inclusive[eventName.value])} of the root, ${position}`;
  };
  const step = (by: 1 | -1) => {
    if (matches.length === 0) return;
    const next = matches[(matches.indexOf(cursor) + by + matches.length) % matches.length]!;
    tree.reveal(next);
    moveTo(next);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if ((e.target as HTMLElement).closest("button") && e.key === "Enter") return;
    const at = shown.indexOf(cursor);
    const below = tree.children[cursor] ?? [];
    if (e.key === "ArrowDown") moveTo(shown[at + 1]);
    else if (e.key === "ArrowUp") moveTo(shown[at - 1]);
    else if (e.key === "ArrowRight")
      tree.open.has(cursor) || below.length === 0 ? moveTo(below[0]) : tree.toggle(cursor);
    else if (e.key === "ArrowLeft") {
      if (tree.open.has(cursor) && below.length > 0) tree.toggle(cursor);
      else moveTo(nodes[cursor]?.parent ?? undefined);
    } else if (e.key === "*") tree.openAll(cursor);
    else if (e.key === "Home") moveTo(0);
    else if (e.key === "End") moveTo(shown.at(-1));
    else if (e.key === "Enter") go({ view: "callers" });
    else return;
    e.preventDefault();
    e.stopPropagation();
    // The button of a row that was clicked before must not take the next Enter.
    rows.box.current?.focus();
  };
  const events = shownEvents.value;
  const columns = events.length * 2 + 2;
  return (
    <>
      <div class="tools">
        <label>
          <input type="checkbox" checked={inverted} onChange={() => go({ inverted: !inverted })} /> inverted:
          callers below
        </label>
        <SearchBox onStep={step} />
        {filter ? (
          <span class="matched" role="status">
            {problem || `${grouped(matches.length)} rows match`}
            <button data-action="previous-match" aria-label="Previous match" onClick={() => step(-1)}>
              ‹
            </button>
            <button data-action="next-match" aria-label="Next match" onClick={() => step(1)}>
              ›
            </button>
          </span>
        ) : null}
        <button onClick={() => tree.openAll(0)}>Open all</button>
        {answer ? <Export name="tree" json={answer} rows={() => cells(answer)} /> : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} />
            <Region label="Call tree" rows={rows} onKeyDown={onKeyDown}>
              <table role="treegrid" aria-label="Call tree" aria-rowcount={shown.length + 1}>
                <thead>
                  <tr>
                    {events.map((name) => (
                      <TreeHeads key={name} suffix={events.length > 1 ? ` ${name}` : ""} />
                    ))}
                    <NumberHead>Calls</NumberHead>
                    <th scope="col">Function</th>
                  </tr>
                </thead>
                <tbody>
                  <Pad at={rows.above} columns={columns} />
                  {shown.slice(rows.from, rows.to).map((index, i) => (
                    <TreeRow
                      key={index}
                      answer={answer}
                      index={index}
                      rowIndex={rows.from + i + 2}
                      isOpen={tree.open.has(index)}
                      hasChildren={tree.children[index]!.length > 0}
                      isCursor={index === cursor}
                      isMatch={pattern !== null && pattern.test(functionOf(index).name)}
                      onToggle={() => tree.toggle(index)}
                      onCursor={() => tree.setCursor(index)}
                    />
                  ))}
                  <Pad at={rows.below} columns={columns} />
                </tbody>
              </table>
            </Region>
            <p class="hint">
              Calls below {percentOf(TREE_LIMITS.min_share, 1000)} of the root are not shown. Arrows open,
              close and move; * opens everything below.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}

/** Below a function of an inverted tree are its callers: its own cost is what comes through none of them. */
function ownHead(): string {
  return place.value.inverted ? "No caller" : "Self";
}

function TreeHeads({ suffix }: { suffix: string }) {
  return (
    <>
      <NumberHead>Inclusive{suffix}</NumberHead>
      <NumberHead>
        {ownHead()}
        {suffix}
      </NumberHead>
    </>
  );
}

function cells(answer: Tree) {
  const events = shownEvents.value;
  const own = ownHead().toLowerCase();
  return [
    [
      "level",
      "function",
      ...events.flatMap((name) => [`inclusive ${name}`, `${own} ${name}`]),
      "calls",
      "estimated",
    ],
    ...answer.nodes.map((node) => [
      node.depth,
      answer.functions[node.function]!.name,
      ...events.flatMap((name) => [node.inclusive[name], node.self[name]]),
      node.calls,
      estimatedColumns({ inclusive: node.guessed, [own]: node.self_guessed, calls: node.calls_guessed }),
    ]),
  ];
}

function TreeRow({
  answer,
  index,
  rowIndex,
  isOpen,
  hasChildren,
  isCursor,
  isMatch,
  onToggle,
  onCursor,
}: {
  answer: Tree;
  index: number;
  rowIndex: number;
  isOpen: boolean;
  hasChildren: boolean;
  isCursor: boolean;
  isMatch: boolean;
  onToggle: () => void;
  onCursor: () => void;
}) {
  const node = answer.nodes[index]!;
  const at = answer.functions[node.function]!;
  const outer = outerLevel(answer.nodes, index);
  return (
    <tr
      class={isMatch ? "match" : ""}
      aria-level={node.depth + 1}
      aria-rowindex={rowIndex}
      aria-expanded={hasChildren ? isOpen : undefined}
      aria-selected={isCursor || (at.id !== null && at.id === selected.value)}
      onClick={onCursor}
    >
      {shownEvents.value.map((name) => (
        <TreeCosts key={name} node={node} name={name} />
      ))}
      <td class="num">{callCount(node)}</td>
      <td>
        <Indent depth={node.depth} />
        {hasChildren ? (
          <button class="twist" tabIndex={-1} aria-label={isOpen ? "Close" : "Open"} onClick={onToggle}>
            {isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span class="twist" />
        )}
        <Name row={at} />
        {outer >= 0 ? <span class="tag">recursion, see level {outer}</span> : null}
        {at.kind === "cycle" ? <span class="tag">{grouped(at.members.length)} members</span> : null}
        {node.hidden > 0 ? <More node={node} at={at} /> : null}
      </td>
    </tr>
  );
}

function TreeCosts({ node, name }: { node: TreeNode; name: string }) {
  return (
    <>
      <td class="num">
        <Cost
          costs={node.inclusive}
          event={name}
          estimate={node.guessed}
          bound={node.inclusive_is_upper_bound}
        />
      </td>
      <td class="num">
        <Cost costs={node.self} event={name} estimate={node.self_guessed} bar={false} />
      </td>
    </>
  );
}

/** Calls that the limits left out: a tree that begins here has them. */
function More({
  node,
  at,
}: {
  node: TreeNode;
  at: { id: number | null; name: string; file: string; object: string };
}) {
  if (at.id === null) {
    return (
      <span class="at" title="calls that are not shown">
        +{grouped(node.hidden)}
      </span>
    );
  }
  return (
    <button class="more" title="Begin the tree with this function" onClick={() => startAt(at)}>
      +{grouped(node.hidden)}
    </button>
  );
}

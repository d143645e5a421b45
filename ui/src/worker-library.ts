import { Refused, type Asked, type Library, type Loaded } from "./library";
import type { FromWorker, GivenFile, LibraryCode, Progress, ToWorker } from "./worker/messages";

/** The script of the worker, which the build puts in. The worker inherits the policy of the page, as it has no address. */
declare const WORKER_SCRIPT: string;

interface Waiting {
  message: ToWorker;
  signal?: AbortSignal;
  resolve: (answer: ArrayBuffer) => void;
  reject: (error: unknown) => void;
}

/** The library in WebAssembly, in a worker. Questions wait until files are open. */
export class WorkerLibrary implements Library {
  private readonly worker: Worker;
  private readonly queue: Waiting[] = [];
  /** The message that the worker has. It gets one at a time, so that a question that nobody waits for is never asked. */
  private current: Waiting | null = null;
  private isOpen = false;
  /** True once the library has done ahead what the first questions need. It does a step while there is no question. */
  private isPrepared = false;
  private generation = 0;

  constructor(
    private readonly code: LibraryCode,
    private readonly onProgress: (progress: Progress) => void,
  ) {
    const address = URL.createObjectURL(new Blob([WORKER_SCRIPT], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.take(event.data);
    this.worker.onerror = () => this.take({ kind: "failure", reason: "the browser starts no worker" });
  }

  /** Loads files in place of those before, and of those that wait. If that fails, those before are gone, too. */
  async open(files: GivenFile[]): Promise<void> {
    await new Promise<ArrayBuffer>((resolve, reject) => {
      if (this.queue[0]?.message.kind === "open")
        this.queue.shift()!.reject(new Refused("others were chosen"));
      this.queue.unshift({ message: { kind: "open", code: this.code, files }, resolve, reject });
      this.next();
    });
  }

  async ask(request: Asked, signal: AbortSignal): Promise<unknown> {
    const answer = await new Promise<ArrayBuffer>((resolve, reject) => {
      const message: ToWorker = { kind: "ask", request: JSON.stringify(request) };
      this.queue.push({ message, signal, resolve, reject });
      this.next();
    });
    return JSON.parse(new TextDecoder().decode(answer));
  }

  forget(): void {
    // Each loading has a library of its own.
  }

  loaded(): Promise<Loaded> {
    return Promise.resolve({ generation: this.generation, failure: null, is_watched: false });
  }

  private next(): void {
    while (this.current === null) {
      const first = this.queue[0];
      if (first === undefined) return this.prepare();
      if (first.message.kind === "ask" && !this.isOpen) return;
      this.queue.shift();
      if (first.signal?.aborted) {
        first.reject(first.signal.reason);
        continue;
      }
      this.current = first;
      this.worker.postMessage(first.message);
    }
  }

  private prepare(): void {
    if (!this.isOpen || this.isPrepared) return;
    const nothing = () => undefined;
    this.current = { message: { kind: "prepare" }, resolve: nothing, reject: nothing };
    this.worker.postMessage(this.current.message);
  }

  private take(message: FromWorker): void {
    if (message.kind === "progress") {
      // A question may load the files again, which is no stage of opening.
      if (this.current?.message.kind === "open") this.onProgress(message);
      return;
    }
    const done = this.current;
    this.current = null;
    if (done?.message.kind === "open") {
      this.generation += 1;
      this.isOpen = message.kind === "answer";
      this.isPrepared = false;
    }
    if (message.kind === "prepared") this.isPrepared = !message.hasMore;
    else if (message.kind === "answer") done?.resolve(message.answer);
    else done?.reject(new Refused(message.reason));
    this.next();
  }
}

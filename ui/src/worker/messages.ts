// The messages between the page and the worker with the library.

/**
 * The use of a file. A newer source was changed after the profile was written. Profiles by columns are those of an exported page, never
 * of a visitor.
 */
export type Role = "profile" | "base" | "source" | "newer-source" | "profile-by-columns" | "base-by-columns";

export interface GivenFile {
  name: string;
  role: Role;
  /** The file, or its contents compressed with gzip, as base64. */
  bytes: Blob | string;
}

/** The library in WebAssembly: its address, or itself compressed with gzip, as base64. */
export type LibraryCode = { address: string } | { text: string };

export type ToWorker =
  | { kind: "open"; code: LibraryCode; files: GivenFile[] }
  | { kind: "ask"; request: string }
  /** Do one step of what the first questions need. It is done when it is answered. */
  | { kind: "prepare" };

export interface Progress {
  stage: "library" | "read" | "load";
  /** Bytes that are done. */
  bytes: number;
  /** All bytes, as far as they are known. */
  total: number;
}

/** Each message to the worker has one answer or one failure, in the same order. */
export type FromWorker =
  | ({ kind: "progress" } & Progress)
  | { kind: "answer"; answer: ArrayBuffer }
  /** The answer to `prepare`: are there more steps? */
  | { kind: "prepared"; hasMore: boolean }
  | { kind: "failure"; reason: string };

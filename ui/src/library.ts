import type { Answers, Question, Scope } from "./answers";

/** The state of the loaded files: the generation grows with each reload. */
export interface Loaded {
  generation: number;
  /** The reason why the last reload failed: the answers are those of the profile before. */
  failure: string | null;
  /** `false` if the files are not watched: nothing will change. */
  is_watched?: boolean;
}

/** The library: it answers questions. The page has no other way to a number. */
export interface Library {
  ask(request: Asked, signal: AbortSignal): Promise<unknown>;
  /** Forgets the loading that answers were from: ids of it hold no more. */
  forget(): void;
  loaded(): Promise<Loaded>;
}

export interface Asked {
  scope: Scope;
  question: Question;
}

/** An answer that the library refused to give, with its reason. */
export class Refused extends Error {}

export type AnswerTo<Q extends Question> = Answers[Q["kind"]];

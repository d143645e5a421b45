import type { Answers, Question, Scope } from "./answers";

/** The state of the loaded files: the generation grows with each reload. */
export interface Loaded {
  generation: number;
  /** The reason why the last reload failed: the answers are those of the profile before. */
  failure: string | null;
  /** `false` if the files are not watched: nothing will change. */
  is_watched?: boolean;
}

/** Answers questions. The page has no other way to a number. */
export interface Transport {
  ask(request: { scope: Scope; question: Question }, signal: AbortSignal): Promise<unknown>;
  loaded(): Promise<Loaded>;
}

/** An answer that the server refused to give, with its reason. */
export class Refused extends Error {}

/** The transport to the server that the page came from. */
export class HttpTransport implements Transport {
  private session: Promise<void>;

  /** Exchanges the token of the address for a cookie. */
  constructor(token: string | null) {
    this.session =
      token === null ? Promise.resolve() : post("/api/session", { token }, forever()).then(() => undefined);
    this.session.catch(() => undefined); // The first question reports it.
  }

  async ask(request: { scope: Scope; question: Question }, signal: AbortSignal): Promise<unknown> {
    await this.session;
    return (await post("/api/answer", request, signal)).json();
  }

  async loaded(): Promise<Loaded> {
    await this.session;
    return (await post("/api/loaded", {}, forever())).json() as Promise<Loaded>;
  }
}

function forever(): AbortSignal {
  return new AbortController().signal;
}

async function post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refused("gristmill does not answer: start `gristmill view` again, then reload this page");
  }
  if (response.ok) return response;
  throw new Refused(await reasonOf(response));
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  let reason = text || `the server answered ${response.status}`;
  try {
    reason = (JSON.parse(text) as { error?: string }).error ?? reason;
  } catch {
    // Not JSON: the text is the reason.
  }
  const isForbidden = response.status === 401 || response.status === 403;
  return isForbidden ? `${reason} (open the whole address that gristmill printed)` : reason;
}

export type AnswerTo<Q extends Question> = Answers[Q["kind"]];

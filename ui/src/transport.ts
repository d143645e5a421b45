import type { Answers, Question, Scope } from "./answers";

/** Answers questions. The page has no other way to a number. */
export interface Transport {
  ask(request: { scope: Scope; question: Question }, signal: AbortSignal): Promise<unknown>;
}

/** An answer that the server refused to give, with its reason. */
export class Refused extends Error {}

/** The transport to the server that the page came from. */
export class HttpTransport implements Transport {
  private session: Promise<void>;

  /** Exchanges the token of the address for a cookie, and takes it out of the address. */
  constructor(token: string | null) {
    this.session =
      token === null
        ? Promise.resolve()
        : post("/api/session", { token }, new AbortController().signal).then(() => undefined);
    this.session.catch(() => undefined);
  }

  async ask(request: { scope: Scope; question: Question }, signal: AbortSignal): Promise<unknown> {
    await this.session;
    return (await post("/api/answer", request, signal)).json();
  }
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
  const text = await response.text();
  let reason = text || `the server answered ${response.status}`;
  try {
    reason = (JSON.parse(text) as { error?: string }).error ?? reason;
  } catch {
    /* not JSON: the text is the reason */
  }
  if (response.status === 401 || response.status === 403)
    reason += " (open the whole address that gristmill printed)";
  throw new Refused(reason);
}

export type AnswerTo<Q extends Question> = Answers[Q["kind"]];

import { Refused, type Asked, type Library, type Loaded } from "./library";

/** A refusal because the files were loaded again since the last answer. */
class LoadedAgain extends Refused {}

const GENERATION = "gristmill-generation";
const CONFLICT = 409;

/** The library in the server that the page came from. */
export class HttpLibrary implements Library {
  private session: Promise<void>;
  /** The loading of the files that answers are from. The server refuses questions with ids of an older one. */
  private generation: string | null = null;

  /** Exchanges the token of the address for a cookie. Calls `onReload` if the files were loaded again. */
  constructor(
    token: string | null,
    private readonly onReload: () => void,
  ) {
    this.session =
      token === null ? Promise.resolve() : post("/api/session", { token }, forever()).then(() => undefined);
    this.session.catch(() => undefined); // The first question reports it.
  }

  async ask(request: Asked, signal: AbortSignal): Promise<unknown> {
    await this.session;
    const headers: Record<string, string> = this.generation === null ? {} : { [GENERATION]: this.generation };
    const asked = this.generation;
    const response = await post("/api/answer", request, signal, headers).catch((error: unknown) => {
      // Only the first of several questions on the way reports it.
      if (error instanceof LoadedAgain && this.generation === asked) this.onReload();
      throw error;
    });
    this.generation ??= response.headers.get(GENERATION);
    return response.json();
  }

  forget(): void {
    this.generation = null;
  }

  async loaded(): Promise<Loaded> {
    await this.session;
    return (await post("/api/loaded", {}, forever())).json() as Promise<Loaded>;
  }
}

function forever(): AbortSignal {
  return new AbortController().signal;
}

async function post(
  path: string,
  body: unknown,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refused("gristmill does not answer: start `gristmill view` again, then reload this page");
  }
  if (response.ok) return response;
  const reason = await reasonOf(response);
  throw response.status === CONFLICT ? new LoadedAgain(reason) : new Refused(reason);
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

import { t, wordsOfField } from "../app/words";

/** What the server says of a field: where it is, and what is wrong with it. */
export interface Fault {
  loc: (string | number)[];
  msg: string;
}

/** A call that was refused, or not answered (status 0). */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId?: string,
    readonly more: Record<string, string | string[]> = {},
    readonly faults: Fault[] = [],
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  static of(response: Response, body: unknown): Refusal {
    const said = (typeof body === "object" && body ? body : {}) as {
      code?: string;
      message?: string;
      request_id?: string;
      additional_data?: Record<string, string | string[]>;
      detail?: Fault[];
    };
    const seconds = Number(response.headers.get("Retry-After"));
    return new Refusal(
      response.status,
      said.code ?? "",
      said.message ?? t("The server answered {{status}}.", { status: response.status }),
      said.request_id ?? response.headers.get("X-Request-Id") ?? undefined,
      said.additional_data,
      said.detail,
      seconds > 0 ? seconds : undefined,
    );
  }

  get reason(): string | undefined {
    const { reason } = this.more;
    return typeof reason === "string" ? reason : undefined;
  }

  /** Of a batch, the numbers of the operations that were refused. */
  get operations(): number[] {
    const places = this.faults.map(({ loc }) => loc[loc.indexOf("operations") + 1]); // where there are none, that is no number but "body"
    return places.filter((each) => typeof each === "number");
  }

  /** It may go well another time. */
  get passes(): boolean {
    return [0, 429, 502, 503, 504].includes(this.status) || this.reason === "idempotency_in_flight";
  }

  /** The server has not done it, and has not done it before under the same key. Otherwise that is not known. */
  get isDecided(): boolean {
    return this.status >= 400 && this.status <= 500 && this.status !== 401 && !this.passes;
  }
}

export const unreachable = () => new Refusal(0, "unreachable", t("The server does not answer; try again."));

/** What to say of an error, with the places that the server names. */
export function worded(error: unknown): string {
  if (!(error instanceof Refusal)) return error instanceof Error ? error.message : String(error);
  if (error.faults.length === 0) return error.message;
  return error.faults
    .slice(0, 3)
    .map(({ loc, msg }) => {
      const place = loc.slice(1).map((each) => (typeof each === "number" ? each + 1 : wordsOfField(each))).join(" ");
      return place ? `${place[0]!.toUpperCase()}${place.slice(1)}: ${msg}` : msg;
    })
    .join(" · ");
}

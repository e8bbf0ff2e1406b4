// The package's declarations include this file, so the file must not import Drizzle. Drizzle's declarations
// have errors unless all drivers are installed.

/** A message to an endpoint. The endpoint's row contains the message until an attempt succeeds. */
export interface WebhookMessage {
  /** The header `webhook-id` of each attempt to send the message. */
  readonly id: string;
  /** The cursor after the last change of the message. */
  readonly to: string;
  /** The body of the request in each attempt. */
  readonly body: string;
}

/** An attempt to send a message. */
export interface WebhookAttempt {
  readonly at: string;
  readonly id: string;
  readonly milliseconds: number;
  /** The status of the response. Undefined when the endpoint did not respond. */
  readonly status?: number | undefined;
  /** The reason why the attempt failed. Undefined after a success. */
  readonly error?: string | undefined;
}

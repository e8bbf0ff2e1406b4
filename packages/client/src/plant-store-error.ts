import type { AppRouter } from '@plant-store/core/router';
import { type ErrorKind, errorCatalogue, errorKinds } from '@plant-store/schemas';
import { isTRPCClientError, type TRPCClientErrorLike } from '@trpc/client';
import { AccessTokenError } from './access-token.ts';

/** What a call failed with. Either `kind` or `code` tells the members of this union apart. */
export type PlantStoreClientError = Answered[ErrorKind] | Unanswered;

/** An error of the catalogue: what the store answered. */
type Answered = {
  [Kind in ErrorKind]: {
    kind: Kind;
    /** The number in the catalogue, HTTP status × 100 + detail. */
    code: (typeof errorCatalogue)[Kind]['code'];
    message: string;
  } & (Kind extends 'invalidInput' ? { fields: FieldMessages } : unknown);
};

/** The messages for each field that is wrong, `{ name: ['must be a string'] }`. */
type FieldMessages = { [field: string]: string[] | undefined };

/**
 * No answer of the store's came: the network failed, or something in between answered. Whether the
 * call was carried out nobody knows; a create may always be repeated.
 */
interface Unanswered {
  kind: 'unanswered';
  code: undefined;
  message: string;
}

/**
 * Explains what a call of the client threw. Undefined where that is neither an answer of the store
 * nor the lack of one: the call was aborted, or the token function failed.
 */
export function plantStoreError(thrown: unknown): PlantStoreClientError | undefined {
  if (!isTRPCClientError<AppRouter>(thrown)) return undefined;
  const { data, message, cause } = thrown;
  if (data) return answered(data, message);
  if (cause instanceof AccessTokenError || cause?.name === 'AbortError') return undefined;
  return { kind: 'unanswered', code: undefined, message: `${unanswered} (${message})` };
}

const unanswered =
  'the plant store did not answer: check its address and the network, and try again';

/** An error's entry in the catalogue; one that a newer server has added is not in this one. */
function answered(
  { error: code, fields = {} }: ErrorData,
  message: string,
): PlantStoreClientError | undefined {
  const kind = errorKinds.find((each) => errorCatalogue[each].code === code);
  // The union's members differ in their literals alone, which TypeScript cannot follow here.
  return (
    kind &&
    ({ kind, code, message, ...(kind === 'invalidInput' && { fields }) } as Answered[ErrorKind])
  );
}

type ErrorData = NonNullable<TRPCClientErrorLike<AppRouter>['data']>;

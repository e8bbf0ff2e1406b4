/** The calls that the tests make with each client. After an error, a call throws the body of the response. */
export interface Client {
  create(plant: NewPlant): Promise<{ name: string }>;
  createMany(plants: NewPlant[]): Promise<readonly Result[]>;
  get(id: bigint): Promise<{ id: Id; name: string }>;
  list(query: { tag: string; limit: number; after?: bigint }): Promise<Page>;
  /** Returns the HTTP status. */
  remove(id: bigint): Promise<number>;
  count(tag: string): Promise<number>;
  changes(after?: string): Promise<Changes>;
}

interface NewPlant {
  id: bigint;
  name: string;
  tag?: string;
}

/** `exactFetch` returns an id as a `number` if the `number` is exact. */
type Id = number | bigint;

type Result =
  | { id: Id; result: 'created' | 'exists' }
  | { id: Id; result: 'error'; error: number; message: string };

interface Page {
  plants: readonly { id: Id }[];
  next?: Id | undefined;
}

interface Changes {
  changes: readonly { type: 'created' | 'deleted'; plant: { id: Id } }[];
  next: string;
}

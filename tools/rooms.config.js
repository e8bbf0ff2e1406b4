/**
 * The packages and their rooms. `npx -y pnpm imports` checks every import against this list.
 *
 * Each package lists other packages. All code of the package may import the packages in `imports`. The code
 * may import only types from the packages in `typeImports`. Only tests may import the packages in
 * `testImports`.
 *
 * The rooms of a package are the folders of its `src`. A nested folder is a room of its own. The text after a
 * room is the question that the room answers. The rooms stand in levels, from the lowest to the highest. A
 * room may import the rooms on lower levels. When a room imports a file directly in `src`, the list also has
 * the file. Other files directly in `src` may import every room, and no room may import these files.
 */
export const packages = {
  'packages/schemas': {
    rooms: [
      {
        errors: 'which errors can a client get?',
        ids: 'which numbers and texts are an id?',
        json: 'how does JSON keep every digit of an integer?',
      },
    ],
  },
  'packages/formats': {
    imports: ['packages/schemas'],
    rooms: [
      { text: 'how do the bytes of a file become lines?' },
      { rows: 'which columns and values does a row have?' },
      { csv: 'how are plants read from CSV?' },
      { ndjson: 'how are plants read from NDJSON?' },
      { writers: 'how is a plant written?' },
      {
        files:
          'how are the plants of a file read, and how does Node move them into a store and back?',
      },
    ],
  },
  'packages/fast-start': {},
  'packages/core': {
    imports: ['packages/schemas'],
    testImports: ['packages/test-setup'],
    rooms: [
      { 'error-causes.ts': 'what is the cause of an error?' },
      { 'plant-store-error.ts': 'which errors does the store throw?' },
      { 'generate.ts': 'how does a generator forget the values that it has yielded?' },
      { database: 'how does any room run a statement, by when, and with which errors?' },
      {
        'database/pool': 'when does a statement get a connection, and when does the statement end?',
      },
      { tables: 'which tables and indexes does the store need, and does a database have them?' },
      { 'changes/epoch': 'when does the feed begin anew?' },
      {
        'postgres/migration': 'how does a Postgres get the tables?',
        embedded: 'how does a statement reach the embedded database?',
      },
      { postgres: 'how does a statement reach a Postgres?' },
      { 'open-database.ts': 'which of the two databases has the plants?' },
      { plants: 'which statements create, delete and read plants?' },
      { changes: 'which plants were created and deleted, in which order?' },
      { 'group-commit': 'how do callers share a statement?' },
      {
        bulk: 'how are thousands of plants stored at a time?',
        'access-tokens': 'who is the owner of a token, and which tokens are there?',
        inspection: 'what is wrong with a database?',
      },
      { webhooks: 'which endpoints get the changes by HTTP, and how?' },
      { 'check-arguments.ts': 'which arguments are valid?' },
      { 'plant-store.ts': 'what can a store do?' },
      { 'open-test-store.ts': 'how does a test get a store?' },
      { 'procedures/trpc': 'what is a procedure, and how does tRPC call one?' },
      { procedures: 'what can a client call?' },
    ],
  },
  'packages/citus': {
    imports: ['packages/core'],
    testImports: ['packages/test-setup'],
    rooms: [
      { shards: 'which node of a Citus cluster has a plant?' },
      { lanes: 'how do the plants of a node reach it?' },
      { operator: 'how are the plants distributed, and what is wrong with a cluster?' },
    ],
  },
  'packages/client': {
    imports: ['packages/schemas'],
    typeImports: ['packages/core'],
    testImports: ['packages/test-setup'],
    rooms: [
      {
        'access-token.ts': 'which token does a request have?',
        'app-router.ts': 'which procedures are there?',
      },
      { 'plant-store-error.ts': 'what does the error of a call mean?' },
      {
        'event-stream.ts': 'how is a stream of events read?',
        'reconnect.ts': 'when does a subscription connect again?',
      },
      { 'call-link.ts': 'when does a call end, and when is it sent again?' },
      { 'plant-store-client.ts': 'how does a call reach the store?' },
      {
        'all-plants.ts': 'how does a program read all plants?',
        'follow-changes.ts': 'how does a program read the changes?',
      },
      { tanstack: 'what does TanStack Query need?' },
    ],
  },
  'packages/test-setup': {
    rooms: [
      {
        machine: 'what does the machine have that a test needs?',
        network: 'how does a test make a network fail?',
        browser: 'how does a test use a browser?',
      },
      { postgres: 'how does a test get a Postgres?' },
      {
        server: 'how does a test start the server?',
        'global-setup': 'what starts before the tests of a package?',
      },
    ],
  },
  'apps/api': {
    imports: ['packages/schemas', 'packages/core', 'packages/citus', 'packages/fast-start'],
    testImports: ['packages/test-setup', 'packages/client'],
    rooms: [
      { 'repository.ts': 'where are the files that other folders of the repository have?' },
      { errors: 'which HTTP error does a client get?' },
      { 'observability/tracing': 'which spans does a request have?' },
      { observability: 'what do the log and the metrics say?' },
      { connections: 'what happens to a connection, below the requests?' },
      {
        responses: 'how is a response made?',
        'requests/memory': 'which requests have room in memory?',
      },
      { requests: 'which hooks does every request pass?' },
      { 'requests/body': 'which bodies are read, when, and how?' },
      { auth: 'who sent the request?' },
      {
        surfaces: 'how does a request become calls of procedures?',
        pages: 'what do people and tools read about the service?',
      },
      {
        'surfaces/trpc': 'how does tRPC write inputs and outputs?',
        'env.ts': 'which settings are there?',
      },
      { 'server.ts': 'which hooks and routes does the server have, in which order?' },
      { process: 'how do processes start, serve one address, and stop?' },
    ],
  },
  'apps/web': {
    imports: ['packages/schemas', 'packages/formats', 'packages/client'],
    testImports: ['packages/core', 'packages/test-setup'],
    rooms: [
      {
        store: 'how does the page talk to the store, and is the store up?',
        controls: 'which buttons, fields, dialogs and states do all views share?',
      },
      { address: 'what does the address of the page say?' },
      { changes: 'how does the page follow the changes of the plants?' },
      {
        token: 'which access token does this tab have, and what may it do?',
        requests: 'which requests did the page make, and how does a user repeat them elsewhere?',
        plants: 'how is one plant shown and deleted?',
      },
      {
        'plants/add': 'how does a user write a new plant?',
        'plants/find': 'how are a name, an id and a tag found, and how many plants are there?',
        'plants/selection': 'how are several plants deleted?',
        'plants/export': 'how do the plants of the table get into a file?',
        'plants/table': 'how are a million plants shown?',
      },
      {
        import: 'how do the plants of files get into the store?',
        tokens: 'how are access tokens created, listed and revoked?',
      },
      { 'import/views': 'how are files chosen, and how are imports shown?' },
      { 'layout/empty': 'what does the page show in place of the table?' },
      { layout: 'where is each view on the page?' },
    ],
  },
  'apps/cli': {
    imports: [
      'packages/schemas',
      'packages/formats',
      'packages/core',
      'packages/citus',
      'packages/client',
      'packages/fast-start',
    ],
    testImports: ['packages/test-setup'],
    rooms: [
      { 'command-line': 'which settings, options, errors and output do all commands share?' },
      { import: 'how do the plants of a file get into the store?' },
      {
        follow: 'how does a program get the changes of the store?',
        delete: 'how are the plants with the ids in a file deleted?',
        doctor: 'what is wrong with the store?',
        mcp: 'how does an assistant use a running store?',
      },
      { commands: 'which arguments, options and help does each command have?' },
    ],
  },
  'apps/bench': {
    // The benchmark starts its own Postgres with `packages/test-setup`.
    imports: ['packages/core', 'packages/citus', 'packages/test-setup'],
    rooms: [
      {
        processes: 'how are servers started, and what do they use?',
        report: 'how are results and goals shown?',
        'contenders/peers': 'how would a user build the same service with other libraries?',
      },
      { load: 'how is load made?' },
      {
        database: 'where do the plants of a run go?',
        contenders: 'which servers are compared?',
      },
      { measurements: 'how is a case measured, and how often?' },
      { modes: 'what can a run compare?' },
    ],
  },
  examples: {
    // `packed/registry.ts` is no test file, but imports `packages/test-setup` for the tests.
    imports: ['packages/core', 'packages/client', 'packages/test-setup'],
    testImports: ['packages/schemas'],
  },
  'examples/rest': {
    imports: ['packages/schemas'],
    testImports: ['packages/test-setup'],
  },
  'examples/front-end': {
    imports: ['packages/client'],
    testImports: ['packages/test-setup', 'apps/api'],
  },
};

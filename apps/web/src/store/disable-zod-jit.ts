import { config } from 'zod';

// zod compiles schemas with `new Function`, but the content security policy forbids `new Function`. A schema
// reads the setting `jitless` when the schema is created, so main.tsx loads this module before the schemas.
config({ jitless: true });

import { config } from 'zod';

// zod compiles schemas with `new Function`, which the content security policy forbids. A schema reads
// this setting when it is made, so this module is imported before the schemas.
config({ jitless: true });

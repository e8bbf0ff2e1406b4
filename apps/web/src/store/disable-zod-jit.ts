import { config } from 'zod';

// zod compiles schemas with `new Function`, which the content security policy forbids. A schema reads this
// setting at its creation, so main.tsx imports this module before the schemas.
config({ jitless: true });

import './provided-context.ts';

export { createDatabase } from './create-database.ts';
export { makeCertificate } from './make-certificate.ts';
export { startPostgres, type TestPostgres } from './start-postgres.ts';
export { type StartedProcess, startOnPostgres, startProcess } from './started-process.ts';

export { startPostgres, type TestPostgres } from './start-postgres.ts';

import './provided-context.ts';

export {
  type AcknowledgedLoad,
  type Seen,
  startAcknowledgedLoad,
} from './acknowledged-load.ts';
export { createDatabase } from './create-database.ts';
export { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
export { freePort } from './free-port.ts';
export { makeCertificate } from './make-certificate.ts';
export { hasPgBouncer, startPgBouncer } from './start-pgbouncer.ts';
export { startPostgres, type TestPostgres } from './start-postgres.ts';
export { type StartedProcess, startOnPostgres, startProcess } from './started-process.ts';

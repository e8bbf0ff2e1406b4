import './embedded.ts';

export {
  atExit,
  endWithThisProcess,
  freePort,
  hasFileModes,
  hasPosixShell,
  hasPosixSignals,
  listen,
  untilLogged,
  withSbin,
} from './machine.ts';
export { type Fault, type FaultProxy, startFaultProxy } from './network/fault-proxy.ts';
export { makeCertificate } from './network/make-certificate.ts';
export { type ReceivedSpan, startOtlpReceiver } from './network/otlp-receiver.ts';
export { freezeProcesses } from './postgres/postgres-process.ts';
export { createCitusDatabase, startCitus, type TestCitus } from './postgres/start-citus.ts';
export { hasPgBouncer, startPgBouncer } from './postgres/start-pgbouncer.ts';
export {
  createDatabase,
  runSql,
  startPostgres,
  type TestPostgres,
} from './postgres/start-postgres.ts';
export { type StartedProcess, startOnPostgres, startProcess } from './start-process.ts';

import './global-setup/provided-context.ts';

export { atExit, endWithThisProcess } from './machine/at-exit.ts';
export {
  hasFileModes,
  hasPosixShell,
  hasPosixSignals,
  withSbin,
} from './machine/platform.ts';
export { untilLogged } from './machine/until-logged.ts';
export { type Fault, type FaultProxy, startFaultProxy } from './network/fault-proxy.ts';
export { freePort, listen } from './network/listen.ts';
export { makeCertificate } from './network/make-certificate.ts';
export { type ReceivedSpan, startOtlpReceiver, statementsOf } from './network/otlp-receiver.ts';
export { createDatabase } from './postgres/create-database.ts';
export { freezeProcesses } from './postgres/postgres-process.ts';
export { runSql } from './postgres/run-sql.ts';
export { createCitusDatabase, startCitus, type TestCitus } from './postgres/start-citus.ts';
export {
  hasPgBouncer,
  startPgBouncer,
} from './postgres/start-pgbouncer.ts';
export { startPostgres, type TestPostgres } from './postgres/start-postgres.ts';
export { type StartedProcess, startOnPostgres, startProcess } from './server/start-process.ts';

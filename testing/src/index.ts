export {
  filesInCycles,
  type Import,
  moduleOf,
  readSourceFiles,
  type SourceFiles,
  upwardImports,
} from './architecture.ts';
export { build } from './build.ts';
export { cases } from './cases.ts';
export { freshDatabase, serverConnectionString, serverVersion, type TestDatabase, useDatabase } from './database.ts';
export { freePort } from './free-port.ts';
export { type HeldLock, holdLock } from './lock.ts';
export { oncePerRun } from './once-per-run.ts';
export { part } from './part.ts';
export { isRunning, processesOn, untilNone, userOf } from './processes.ts';
export { type PrimaryServer, type ReplicaServer, startPrimary } from './replication.ts';
export { type RedisServer, redisVersion, startRedis } from './redis.ts';
export { type RedisSentinelGroup, startRedisSentinelGroup } from './redis-sentinel.ts';
export { packageOfMajor, packageOfRun } from './postgres-packages.ts';
export { type Answer, quickHasher, type SendOptions, startGateway, type TestGateway, useGateway } from './gateway.ts';
export { type PgBouncer, type PgBouncerOptions, pgbouncerVersion, startPgBouncer } from './pgbouncer.ts';

export { cases } from './cases.ts';
export { freshDatabase, serverConnectionString, serverVersion, type TestDatabase, useDatabase } from './database.ts';
export { type HeldLock, holdLock } from './lock.ts';
export { isRunning, processesOn, untilNone, userOf } from './processes.ts';
export { type RedisServer, redisVersion, startRedis } from './redis.ts';
export { packageOfRun } from './postgres-packages.ts';
export { type Answer, quickHasher, type SendOptions, startGateway, type TestGateway, useGateway } from './gateway.ts';
export { type PgBouncer, type PgBouncerOptions, pgbouncerVersion, startPgBouncer } from './pgbouncer.ts';

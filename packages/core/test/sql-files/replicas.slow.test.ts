import { sqlFilesSource } from '@pgway/core';
import { startPrimary } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { openGateway } from '../replicas/support.ts';
import { createFolder } from './folder.ts';

test('files that only read run on a replica, unless their comment or statement needs the primary', async () => {
  const primary = await startPrimary();
  onTestFinished(() => primary.stop());
  await primary.query(`
    create table note (text text);
    create function location() returns text language sql stable as
      $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end $$;
    create function write_note() returns text language sql as $$ insert into note values ('x') returning text $$;
    create function peek() returns text language plpgsql stable as
      $$ declare found text; begin execute replace('select write-note()', '-', '_') into found; return found; end $$;
  `);
  const replica = await primary.startReplica();
  const folder = await createFolder({
    'place.sql': `-- HTTP\nselect location()`,
    'places.sql': `-- HTTP\nselect location();\nselect current_setting('transaction_read_only');`,
    'strong.sql': `-- HTTP\n-- consistency strong\nselect location()`,
    'write.sql': `-- HTTP POST\nselect location(), write_note()`,
    'peek.sql': `-- HTTP\nselect peek()`,
  });
  const options = {
    connectionString: primary.connectionString,
    readReplicas: { connectionStrings: [replica.connectionString], maxLagSeconds: 60 },
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
  };
  const { send } = await openGateway(options, false);
  const read = async (line: string): Promise<string> => (await send(line)).body;
  await expect.poll(() => read('GET /api/place')).toBe('["replica"]');
  expect(await read('GET /api/places')).toBe('{"result1":["replica"],"result2":["on"]}');
  expect(await read('GET /api/strong')).toBe('["primary"]');
  expect(await read('POST /api/write')).toBe('[{"location":"primary","writeNote":"x"}]');
  // The replica refuses the write, and so does the primary.
  expect(JSON.parse(await read('GET /api/peek'))).toMatchObject({ status: 500, code: '25006' });
});

import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { sendRaw } from './support.ts';

/** The bytes of a bytea value go out whatever `bytea_output` the routine has chosen for its own transaction. */
const gateway = useGateway(`
  create function every_byte(_form text) returns bytea language plpgsql volatile as $$ begin
    perform set_config('bytea_output', _form, true);
    return (select string_agg(set_byte('\\x00', 0, n), '') from generate_series(0, 255) n);
  end $$;
  comment on function every_byte is 'HTTP GET';
  create function chosen(_form text, _value bytea) returns bytea language plpgsql volatile as $$ begin
    perform set_config('bytea_output', _form, true);
    return _value;
  end $$;
  comment on function chosen is 'HTTP GET';
`);

const everyByte = Array.from({ length: 256 }, (_, byte) => byte);

test.each(['hex', 'escape'])('every byte, as %s', async (form) => {
  const { status, headers, body } = await sendRaw(gateway.url, { path: `/api/every-byte?form=${form}` });
  expect([status, headers['content-type'], [...body]]).toEqual([200, 'application/octet-stream', everyByte]);
});

test.each([
  ['\\x', []],
  ['\\x5c78', [0x5c, 0x78]],
  ['\\x5c5c', [0x5c, 0x5c]],
  ['plain text', [...Buffer.from('plain text')]],
])('%s, as escape', async (value, bytes) => {
  const path = `/api/chosen?form=escape&value=${encodeURIComponent(value)}`;
  const { status, headers, body } = await sendRaw(gateway.url, { path });
  expect([status, headers['content-length'], [...body]]).toEqual([200, String(bytes.length), bytes]);
});

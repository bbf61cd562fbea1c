import { z } from 'zod';

/** A DNS name or an IPv4 address; IPv6 in brackets. */
const hostName = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-fA-F:.]+\])$/;

export const allowedHosts: z.ZodDefault<z.ZodArray<z.ZodString>> = z
  .array(z.string().regex(hostName, 'must be a host name without scheme and port, such as api.example.org'))
  .default([])
  .describe(
    'Host names that requests may be for. Where `host` is a loopback address, those of that address are accepted without being listed, and no other; elsewhere an empty list accepts every name.',
  );

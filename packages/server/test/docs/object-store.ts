import { join } from 'node:path';
import S3rver from 's3rver';

/** An S3-compatible store with the bucket `files`, and the environment in which the AWS SDK finds it. */
export interface ObjectStore {
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startObjectStore(folder: string): Promise<ObjectStore> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 'object-store'),
    configureBuckets: [{ name: 'files', configs: [] }],
  });
  const { port } = await server.run();
  return {
    environment: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    },
    close: () => server.close(),
  };
}

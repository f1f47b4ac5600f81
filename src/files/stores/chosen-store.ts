import { Config } from '../../config/config.js';
import { DiskStore } from './disk-store.js';
import { FILE_STORE, type FileStore } from './file-store.js';
import { S3Store } from './s3-store.js';

/** The store that FILES names. */
export const chosenStore = {
  provide: FILE_STORE,
  inject: [Config],
  useFactory: ({ files, dataDir, s3Endpoint: endpoint, environment }: Config): FileStore => {
    if (files.kind === 'disk') return new DiskStore(dataDir);
    const { bucket, prefix } = files;
    const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
    const region = read('AWS_REGION') ?? read('AWS_DEFAULT_REGION') ?? 'us-east-1';
    const credentials = {
      accessKeyId: read('AWS_ACCESS_KEY_ID') ?? '',
      secretAccessKey: read('AWS_SECRET_ACCESS_KEY') ?? '',
      sessionToken: read('AWS_SESSION_TOKEN'),
    };
    return new S3Store({ bucket, prefix, endpoint, region, ...credentials });
  },
};

import { Config } from '../../config/config.js';
import { DiskStore } from './disk-store.js';
import { DiskSpace } from '../disk-space.js';
import { FILE_STORE, type FileStore } from './file-store.js';
import { S3Store } from './s3-store.js';

/** The store that FILES names. */
export const chosenStore = {
  provide: FILE_STORE,
  inject: [Config, DiskSpace],
  useFactory: (config: Config, space: DiskSpace): FileStore => {
    const { files, dataDir, maxFileBytes, s3Endpoint: endpoint, environment } = config;
    if (files.kind === 'disk') return new DiskStore(dataDir, maxFileBytes, space);
    const { bucket, prefix } = files;
    const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
    const credentials = {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
      sessionToken: environment['AWS_SESSION_TOKEN'] || undefined,
    };
    return new S3Store({ bucket, prefix, endpoint, region, ...credentials }, dataDir, maxFileBytes, space);
  },
};

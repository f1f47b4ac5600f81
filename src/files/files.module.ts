import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { DatabaseDisk } from './database-disk.js';
import { DiskSpace } from './disk-space.js';
import { FilePruner } from './duties/file-pruner.js';
import { FileEntity } from './entities/file.entity.js';
import { FilePlaceEntity } from './entities/file-place.entity.js';
import { FilePlace } from './file-place.js';
import { FileRows } from './file-rows.js';
import { Files } from './files.js';
import { KeptFiles } from './kept-files.js';
import { StoredQuota } from './stored-quota.js';
import { chosenStore } from './stores/chosen-store.js';
import { Spool } from './stores/spool.js';
import { UploadUrls } from './upload-urls.js';
import { Uploads } from './uploads.js';

/** Loaded on every node, whatever its role: for uploads, answers of models that are files, and pruning. */
@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([FileEntity, FilePlaceEntity])],
  providers: [
    chosenStore,
    DatabaseDisk,
    DiskSpace,
    FilePlace,
    FilePruner,
    FileRows,
    Files,
    KeptFiles,
    Spool,
    StoredQuota,
    Uploads,
    UploadUrls,
  ],
  exports: [DatabaseDisk, DiskSpace, FilePlace, Files, KeptFiles, StoredQuota, Uploads],
})
export class FilesModule {}

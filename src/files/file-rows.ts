import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../database/database.js';
import { Batcher } from '../tools/batcher.js';
import { FileEntity } from './entities/file.entity.js';
import { findFiles, type StoredFile } from './queries/find-files.js';
import {
  addFiles,
  beginUploads,
  type Content,
  endUploads,
  type FileRow,
  type Try,
} from './queries/uploads.js';

const options = { maxItems: 256, writers: 2 };

/** The rows of files. Calls that come at once share a commit. */
@Injectable()
export class FileRows {
  private readonly adds: Batcher<FileRow, void>;
  private readonly begins: Batcher<string, Try | undefined>;
  private readonly ends: Batcher<Content, boolean>;
  private readonly looks: Batcher<string, StoredFile | undefined>;

  constructor(
    database: Database,
    @InjectRepository(FileEntity) private readonly rows: Repository<FileEntity>,
  ) {
    this.adds = new Batcher(
      (files) => addFiles(database, files).then(() => files.map(() => undefined)),
      options,
    );
    this.begins = new Batcher((ids) => beginUploads(database, ids), options);
    this.ends = new Batcher((tries) => endUploads(database, tries), options);
    this.looks = new Batcher((ids) => findFiles(database, ids), options);
  }

  add(file: FileRow): Promise<void> {
    return this.adds.add(file);
  }

  /** undefined: the file takes no more tries. */
  begin(fileId: string): Promise<Try | undefined> {
    return this.begins.add(fileId);
  }

  /** Returns whether the bytes of the try are now those of the file. */
  end(content: Content): Promise<boolean> {
    return this.ends.add(content);
  }

  find(fileId: string): Promise<StoredFile | undefined> {
    return this.looks.add(fileId);
  }

  /** Returns the row in any state. */
  row(fileId: string): Promise<FileEntity | null> {
    return this.rows.findOneBy({ id: fileId });
  }

  /** Makes the pruner look at a file in its next round. */
  async expire(fileId: string): Promise<void> {
    await this.rows.update({ id: fileId }, { expiresAt: () => 'clock_timestamp()' });
  }

  /** Marks a file as removed that will never be stored. Returns false if there is no such file, or it is stored. */
  async giveUp(fileId: string): Promise<boolean> {
    const { affected } = await this.rows.update({ id: fileId, state: 'initiated' }, { state: 'removed' });
    return affected === 1;
  }
}

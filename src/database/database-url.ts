import { Inject } from '@nestjs/common';

export const databaseUrlToken = Symbol('DATABASE_URL');

/** Injects the URL of the database in use, embedded or given. */
export const InjectDatabaseUrl = (): ParameterDecorator => Inject(databaseUrlToken);

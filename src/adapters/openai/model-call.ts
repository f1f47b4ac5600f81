import type { Request, Response } from 'express';
import type { Caller } from '../../auth/caller.js';

/** A call for a model. */
export interface ModelCall {
  caller: Caller;
  request: Request;
  response: Response;
}

/**
 * `now`: the same call now. `later`: the same call after `Retry-After`. `changed`: a changed call. `resubmit`: a new
 * submission, because this request has ended. `no`: none.
 */
export type Retry = 'now' | 'later' | 'changed' | 'resubmit' | 'no';

interface ProblemKind {
  status: number;
  title: string;
  /** Which call may succeed after this failure. */
  retry: Retry;
}

/**
 * Every stable error `code` that the API can return, for its description, its answers and /docs/errors. A new code
 * needs a line here and a line in `advice`.
 */
export const problemCodes = {
  bad_request: { status: 400, title: 'The request is malformed', retry: 'changed' },
  invalid_json: { status: 400, title: 'The body is not a JSON object', retry: 'changed' },
  invalid_query: { status: 400, title: 'A query parameter is not accepted', retry: 'changed' },
  invalid_upload: { status: 400, title: 'The upload differs from what was announced', retry: 'changed' },
  not_completed: { status: 400, title: 'The request has not completed yet', retry: 'later' },
  already_completed: { status: 400, title: 'The request has already completed', retry: 'no' },
  missing_key: { status: 401, title: 'An API key is required', retry: 'changed' },
  invalid_key: { status: 401, title: 'The API key is not valid', retry: 'changed' },
  sign_in_refused: { status: 401, title: 'The sign-in was refused', retry: 'changed' },
  forbidden: { status: 403, title: 'The API key does not allow this', retry: 'no' },
  invalid_upload_url: { status: 403, title: 'The upload URL is not valid', retry: 'changed' },
  rate_limited: { status: 403, title: 'Rate limit exceeded', retry: 'later' },
  not_found: { status: 404, title: 'No such route', retry: 'changed' },
  unknown_model: { status: 404, title: 'No such model', retry: 'changed' },
  unknown_id: { status: 404, title: 'Nothing has this id', retry: 'no' },
  unknown_request: { status: 404, title: 'No such request', retry: 'no' },
  unknown_file: { status: 404, title: 'No such file', retry: 'no' },
  unknown_operation: { status: 404, title: 'No such operation', retry: 'no' },
  batch_not_found: { status: 404, title: 'No such batch', retry: 'no' },
  method_not_allowed: { status: 405, title: 'This route does not take that method', retry: 'changed' },
  conflict: { status: 409, title: 'The current state does not allow this', retry: 'changed' },
  batch_ended: { status: 409, title: 'The batch has already ended', retry: 'no' },
  claim_conflict: { status: 409, title: 'The claim id was used with another claim', retry: 'changed' },
  gone: { status: 410, title: 'The request was removed', retry: 'resubmit' },
  lease_lost: { status: 410, title: 'The lease is no longer valid', retry: 'no' },
  worker_stopped: { status: 410, title: 'The worker must stop', retry: 'no' },
  changed_meanwhile: { status: 412, title: 'The resource has changed in the meantime', retry: 'changed' },
  body_too_large: { status: 413, title: 'The body is too large', retry: 'changed' },
  too_large: { status: 413, title: 'The content of the body is too large', retry: 'changed' },
  unsupported_encoding: { status: 415, title: 'The content encoding is not supported', retry: 'changed' },
  range_not_satisfiable: { status: 416, title: 'The file has no such range', retry: 'changed' },
  invalid_input: { status: 422, title: "The input does not fit the model's schema", retry: 'changed' },
  input_file_not_found: { status: 422, title: 'The input file of the batch is not there', retry: 'changed' },
  invalid_models_file: { status: 422, title: 'The models file is invalid', retry: 'changed' },
  idempotency_key_reused: {
    status: 422,
    title: 'The idempotency key was used with another request',
    retry: 'changed',
  },
  invalid_idempotency_key: { status: 400, title: 'The idempotency key is malformed', retry: 'changed' },
  cancelled: { status: 499, title: 'The request was cancelled', retry: 'resubmit' },
  too_slow: { status: 408, title: 'The body arrives too slowly', retry: 'now' },
  caller_busy: { status: 429, title: 'The caller has reached its allowance', retry: 'later' },
  queue_full: { status: 429, title: 'Too many requests wait', retry: 'later' },
  worker_resting: { status: 429, title: 'The worker has failed too often in a row', retry: 'later' },
  internal_error: { status: 500, title: 'Something went wrong on our side', retry: 'now' },
  model_error: { status: 502, title: 'The model failed', retry: 'changed' },
  model_unavailable: { status: 502, title: 'The model could not be reached', retry: 'resubmit' },
  node_lost: { status: 502, title: 'The nodes that ran the request were lost', retry: 'no' },
  worker_lost: { status: 502, title: 'The workers that ran the request were lost', retry: 'no' },
  unavailable: { status: 503, title: 'The service cannot take requests now', retry: 'later' },
  overloaded: { status: 503, title: 'The service has reached its capacity', retry: 'later' },
  model_paused: { status: 503, title: 'The model is paused', retry: 'later' },
  timed_out: { status: 504, title: 'The model ran too long', retry: 'changed' },
  expired: { status: 504, title: 'The request waited too long', retry: 'resubmit' },
  storage_full: { status: 507, title: 'There is no room for the file', retry: 'later' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof problemCodes;

/** What the caller should do next. */
export const advice: Readonly<Record<ProblemCode, string>> = {
  bad_request: 'Correct the call. The detail says what is malformed.',
  invalid_json: 'Send a JSON object as the body. The detail says where the error is.',
  invalid_query: 'Correct the parameter as the detail says.',
  invalid_upload: 'Send the announced bytes, with the announced Content-Type.',
  not_completed: 'Wait for Retry-After, or follow the status until it is COMPLETED, then try again.',
  already_completed: 'There is nothing to cancel. Fetch the response.',
  missing_key: 'Send the header "Authorization: Key <API key>".',
  invalid_key:
    'The key is unknown, revoked or expired, or its header is malformed. Check it, or ask the operator for another.',
  sign_in_refused: 'Sign in with a key, or with a new link.',
  forbidden: 'Ask the operator for a key that allows it.',
  invalid_upload_url: 'Initiate the upload again. Its URL is valid for an hour, and only for this upload.',
  rate_limited:
    'Wait for Retry-After, then send it again. If it is refused once more, back off exponentially.',
  not_found: 'Check the path against the API description.',
  unknown_model: 'Check the id of the model. The detail suggests the nearest id that the key may use.',
  unknown_id: 'Check the id against the list that it came from.',
  unknown_request: 'Check the id, and send the key that submitted the request, or no key.',
  unknown_file:
    'Check the URL. A file is deleted with the last request that names it, or after a day if none does.',
  unknown_operation: 'List the operations to find its id.',
  batch_not_found: 'List the batches of the key to find its id, and send the key that made the batch.',
  method_not_allowed: 'Use a method that the header Allow lists.',
  conflict: 'Do as the detail says.',
  batch_ended: 'There is nothing to cancel. Read the output and the errors of the batch.',
  claim_conflict:
    'Use a new claim_id for each claim. The same claim_id is only for a repetition of the same claim.',
  gone: 'Retention or an erasure has deleted it. Submit it again if it is still needed.',
  lease_lost: 'Stop the run and discard its result. The request belongs to another run, or has ended.',
  worker_stopped: 'End the worker. An operator has stopped it.',
  changed_meanwhile:
    'If-Match names another version. Read the resource again, and change the current version.',
  body_too_large: 'Send less, or a URL in place of the data.',
  too_large: 'Send less in one call, or a URL in place of the data.',
  unsupported_encoding: 'Send the body unencoded, or in an encoding that the header Accept-Encoding lists.',
  range_not_satisfiable: 'Ask for a range within the size in the header Content-Range.',
  invalid_input: 'Correct the places that "errors" lists.',
  input_file_not_found:
    'Upload the lines as a file with the same key, and name its URL, or send the lines themselves.',
  invalid_models_file: 'Correct the lines that "errors" lists. Until then the models stay as they were.',
  idempotency_key_reused: 'Use a new Idempotency-Key for another body, model or call.',
  invalid_idempotency_key: 'Send 1 to 255 printable ASCII characters, or no Idempotency-Key.',
  cancelled: 'Submit it again if it is still needed.',
  too_slow: 'Send the body faster than 16 KiB a second, or as a file in parts.',
  caller_busy:
    'Wait for Retry-After, then send it again. Read open answers, close streams, and send fewer large bodies at once.',
  overloaded: 'Wait for Retry-After, then send it again. If it is refused once more, back off exponentially.',
  queue_full: 'Wait for Retry-After, then send it again, or cancel requests that are no longer needed.',
  worker_resting: 'Wait for Retry-After, then claim again. Find out why its runs fail.',
  internal_error:
    'Try again a few times. If the error persists, give the operator the X-Request-Id of the answer.',
  model_error: 'Read the detail. The model may not accept the input. Correct it, then submit it again.',
  model_unavailable: 'No attempts are left. Submit it again later. If the error persists, ask the operator.',
  node_lost:
    'Report it to the operator, because the request itself may crash nodes. Submit it again with care.',
  worker_lost:
    'Report it to the operator, because the request itself may crash workers. Submit it again with care.',
  model_paused:
    'The operator has paused the model and will resume it. Wait for Retry-After, then send it again.',
  unavailable: 'Wait for Retry-After, then send it again. With an Idempotency-Key nothing is queued twice.',
  timed_out: 'Submit a smaller task, or with a longer "timeout". The operator can allow the model more time.',
  expired: 'Submit it again when the queue is shorter.',
  storage_full:
    'Read the detail. If the key has too many files, erase requests that are no longer needed, wait for retention, or ask ' +
    'the operator for more. If the disk is full, tell the operator. Then upload it again.',
};

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { exampleTime, time } from '../../http/openapi/schemas.js';
import {
  FinalMetricsDto,
  ProgressDto,
  QueueMetricsDto,
  RequestErrorDto,
} from '../../requests/dto/answers.dto.js';

const url = `http://127.0.0.1:3000/v1/queue/requests/${exampleId}`;

/** What the bodies of all events of a request have. */
class RequestEventDto {
  @Field('The time of the event, in UTC with milliseconds.', exampleTime, time)
  timestamp!: string;
  @Field('The id of the request.', exampleId)
  request_id!: string;
  @Field('The id of the model.', 'demo/image/fractal')
  model_id!: string;
  @Field('The attempt, counted from 1; 0: it never ran.', 1, { type: 'integer', minimum: 0 })
  attempt!: number;
  @ApiProperty({ description: 'The tags of the request.', type: [String], example: ['job:17'] })
  tags!: readonly string[];
}

@ApiSchema({ name: 'CompletedEvent', description: 'The body of `request.completed`.' })
export class CompletedEventDto extends RequestEventDto {
  @Field('The type of the event.', 'request.completed', { enum: ['request.completed'] })
  type!: 'request.completed';
  @Field('`ERROR`: the request failed, was cancelled or expired.', 'OK', { enum: ['OK', 'ERROR'] })
  status!: 'OK' | 'ERROR';
  @ApiProperty({
    description: 'The output of the model; null with `ERROR` or a `payload_error`.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { prompt: 'hello' },
  })
  payload!: unknown;
  @Field(
    'The reason for which a success has no `payload`. `too_large`: above 256 KiB. `gone`: it was removed. Absent ' +
      'otherwise.',
    'too_large',
    { enum: ['gone', 'too_large'], required: false },
  )
  payload_error?: 'gone' | 'too_large' | undefined;
  @ApiProperty({
    description: 'The error of a request that did not succeed; null: it succeeded.',
    type: RequestErrorDto,
    nullable: true,
  })
  error!: RequestErrorDto | null;
  @ApiProperty({ description: 'The measurements of the request.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
  @Field('The URL of the response.', url, { format: 'uri' })
  response_url!: string;
}

/** What the bodies of events of a run have. */
class RunEventDto extends RequestEventDto {
  @Field('The URL of the status of the request.', `${url}/status`, { format: 'uri' })
  status_url!: string;
}

@ApiSchema({ name: 'StartedEvent', description: 'The body of `request.started`.' })
export class StartedEventDto extends RunEventDto {
  @Field('The type of the event.', 'request.started', { enum: ['request.started'] })
  type!: 'request.started';
  @ApiProperty({ description: 'The measurements of the request until its start.', type: QueueMetricsDto })
  metrics!: QueueMetricsDto;
}

@ApiSchema({ name: 'ProgressEvent', description: 'The body of `request.progress`.' })
export class ProgressEventDto extends RunEventDto {
  @Field('The type of the event.', 'request.progress', { enum: ['request.progress'] })
  type!: 'request.progress';
  @ApiProperty({
    description: 'The progress of the run; null: the request was erased meanwhile.',
    type: ProgressDto,
    nullable: true,
  })
  progress!: ProgressDto | null;
}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Circuits } from './circuits/circuits.js';
import { ModelAvailability } from './circuits/model-availability.js';
import { OperatorRequests } from './reads/operator-requests.js';
import { BoundedKeys } from './waiting/bounded-keys.js';
import { Cancels } from './completion/cancels.js';
import { Cluster } from './cluster/cluster.js';
import { Controls } from './cluster/controls.js';
import { ClusterMessages } from './cluster/cluster-messages.js';
import { FileUseEntity } from './retention/entities/file-use.entity.js';
import { FollowedRunEntity } from './runs/entities/followed-run.entity.js';
import { FollowedRuns } from './runs/followed-runs.js';
import { FileUses } from './retention/file-uses.js';
import { Estimates } from './estimates/estimates.js';
import { Dispatcher } from './runs/dispatcher.js';
import { GroupTurns } from './runs/group-turns.js';
import { IdempotencyKeyEntity } from './submit/entities/idempotency-key.entity.js';
import { LeaseEntity } from './runs/entities/lease.entity.js';
import { RequestEntity } from './entities/request.entity.js';
import { RequestEventEntity } from './runs/entities/request-event.entity.js';
import { WorkerEntity } from './workers/entities/worker.entity.js';
import { WaitingIndex } from './waiting/waiting-index.js';
import { ModelLoads } from './reads/model-loads.js';
import { OutputSources } from './reads/output-sources.js';
import { ReadPlaces } from './reads/read-places.js';
import { QueueEvents } from './queue-events.js';
import { duties, QueueLifecycle } from './queue-lifecycle.js';
import { QueueService } from './queue.service.js';
import { CallerRequests } from './reads/caller-requests.js';
import { Erasures } from './retention/erasures.js';
import { History } from './reads/history.js';
import { RequestIds } from './submit/request-id.js';
import { CompletionLog } from './completion/completion-log.js';
import { Retention } from './retention/retention.js';
import { RunnerRegistry } from './runs/runner-registry.js';
import { Runs } from './runs/runs.js';
import { RunEvents } from './runs/run-events.js';
import { UnstoredResults } from './runs/unstored-results.js';
import { RunStore } from './runs/run-store.js';
import { Slots } from './cluster/slots.js';
import { StatusSources } from './reads/status-sources.js';
import { Backlog } from './submit/backlog.js';
import { Suspects } from './suspects/suspects.js';
import { SubmissionWriter } from './submit/submission-writer.js';
import { Submissions } from './submit/submissions.js';
import { ClaimRounds } from './workers/claim-rounds.js';
import { WaitingClaims } from './workers/waiting-claims.js';
import { LeasedRuns } from './workers/leased-runs.js';
import { WorkerBeats } from './workers/worker-beats.js';
import { KnownWorkers } from './workers/known-workers.js';
import { WorkerClaims } from './workers/worker-claims.js';
import { WorkerEnds } from './workers/worker-ends.js';
import { WorkerEvents } from './workers/worker-events.js';
import { WorkerStore } from './workers/worker-store.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      FileUseEntity,
      FollowedRunEntity,
      IdempotencyKeyEntity,
      LeaseEntity,
      RequestEntity,
      RequestEventEntity,
      WorkerEntity,
    ]),
  ],
  providers: [
    ...duties,
    OperatorRequests,
    BoundedKeys,
    Cancels,
    Circuits,
    Cluster,
    ClusterMessages,
    Controls,
    Dispatcher,
    Erasures,
    Estimates,
    FileUses,
    FollowedRuns,
    GroupTurns,
    History,
    UnstoredResults,
    ModelAvailability,
    WaitingIndex,
    ModelLoads,
    OutputSources,
    ReadPlaces,
    QueueEvents,
    QueueLifecycle,
    QueueService,
    CallerRequests,
    RequestIds,
    CompletionLog,
    Retention,
    RunnerRegistry,
    RunEvents,
    Runs,
    RunStore,
    Slots,
    StatusSources,
    SubmissionWriter,
    Submissions,
    Suspects,
    Backlog,
    ClaimRounds,
    WaitingClaims,
    LeasedRuns,
    WorkerBeats,
    KnownWorkers,
    WorkerClaims,
    WorkerEnds,
    WorkerEvents,
    WorkerStore,
  ],
  exports: [
    OperatorRequests,
    Cancels,
    Circuits,
    Cluster,
    Controls,
    Erasures,
    Estimates,
    History,
    UnstoredResults,
    ModelAvailability,
    ModelLoads,
    OutputSources,
    ReadPlaces,
    QueueEvents,
    QueueLifecycle,
    QueueService,
    CallerRequests,
    Retention,
    FileUses,
    RunEvents,
    RunnerRegistry,
    Slots,
    StatusSources,
    Submissions,
    Backlog,
    WaitingIndex,
    LeasedRuns,
    WorkerBeats,
    KnownWorkers,
    WorkerClaims,
    WorkerEnds,
    WorkerEvents,
  ],
})
export class QueueModule {}

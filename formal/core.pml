/*
 * The core of the queue: leases, slots, shares of slots, and cancels. README.md in this folder says what is modelled
 * and what is not. `node formal/run.js` (npm run formal) checks it.
 *
 * An `atomic` block is one SQL statement, or one step of a node's memory. Only two statements have several steps,
 * because their races are the point: a cancel (a snapshot, then its writes) and a division of slots (a transaction).
 *
 * Each guard is a macro. The environment variable GUARD_OFF has the number of the guard that is taken out.
 */
mtype:guard = { NONE, TOKEN_ON_FINISH, TOKEN_ON_REQUEUE, TOKEN_OF_DISPATCH, STATE_ON_CLAIM, STATE_ON_COMPLETE,
  STATE_ON_REQUEUE, STATE_ON_RESCUE, MEMBER_ON_CLAIM, ROUND_ON_CLAIM, TIME_ON_CLAIM, CANCEL_ON_REQUEUE,
  CANCEL_ON_RESCUE, CANCEL_AGAIN, FREE_SLOT_ON_CLAIM, FENCE_BEFORE_RESCUE, ANSWER_OF_OLD_GRANT, GRANT_OF_FREE,
  GRANT_RETAINED, GRANT_LOCK, GRANT_AFTER_LEASES, LOST_CLAIM_LOOK,
  CANCEL_OF_LOST_CLAIM, LIMIT_OF_FREE };

#define GUARD(name) (off != name)
#define GUARD_TOKEN_ON_FINISH GUARD(TOKEN_ON_FINISH)
#define GUARD_TOKEN_ON_REQUEUE GUARD(TOKEN_ON_REQUEUE)
#define GUARD_TOKEN_OF_DISPATCH GUARD(TOKEN_OF_DISPATCH)
#define GUARD_STATE_ON_CLAIM GUARD(STATE_ON_CLAIM)
#define GUARD_STATE_ON_COMPLETE GUARD(STATE_ON_COMPLETE)
#define GUARD_STATE_ON_REQUEUE GUARD(STATE_ON_REQUEUE)
#define GUARD_STATE_ON_RESCUE GUARD(STATE_ON_RESCUE)
#define GUARD_MEMBER_ON_CLAIM GUARD(MEMBER_ON_CLAIM)
#define GUARD_ROUND_ON_CLAIM GUARD(ROUND_ON_CLAIM)
#define GUARD_TIME_ON_CLAIM GUARD(TIME_ON_CLAIM)
#define GUARD_CANCEL_ON_REQUEUE GUARD(CANCEL_ON_REQUEUE)
#define GUARD_CANCEL_ON_RESCUE GUARD(CANCEL_ON_RESCUE)
#define GUARD_CANCEL_AGAIN GUARD(CANCEL_AGAIN)
#define GUARD_FREE_SLOT_ON_CLAIM GUARD(FREE_SLOT_ON_CLAIM)
#define GUARD_FENCE_BEFORE_RESCUE GUARD(FENCE_BEFORE_RESCUE)
#define GUARD_ANSWER_OF_OLD_GRANT GUARD(ANSWER_OF_OLD_GRANT)
#define GUARD_GRANT_OF_FREE GUARD(GRANT_OF_FREE)
#define GUARD_GRANT_RETAINED GUARD(GRANT_RETAINED)
#define GUARD_GRANT_LOCK GUARD(GRANT_LOCK)
#define GUARD_GRANT_AFTER_LEASES GUARD(GRANT_AFTER_LEASES)
#define GUARD_LOST_CLAIM_LOOK GUARD(LOST_CLAIM_LOOK)
#define GUARD_CANCEL_OF_LOST_CLAIM GUARD(CANCEL_OF_LOST_CLAIM)
#define GUARD_LIMIT_OF_FREE GUARD(LIMIT_OF_FREE)

mtype:state = { IN_QUEUE, IN_PROGRESS, COMPLETED };
mtype:phase = { IDLE, SENT, ANSWERED };
mtype:doing = { NO_RUN, EXECUTES, IS_ABORTED };
mtype:kind = { NO_WRITE, FINISH, REQUEUE };

/* Two nodes and two requests of one model. */
#define NODES 2
#define REQUESTS 2
#define NOBODY 2
#define OTHER(n) (1 - (n))
/* A second loss fails a request. */
#define LOST_LIMIT 2

/* Set once: the guard that is taken out. */
mtype:guard off = NONE;

/*
 * How many faults may still happen, of all kinds and of each. They are few, so that the search ends, and every run of
 * the model as well.
 */
byte faults = 2;
byte failures = 1;
byte lateBeats = 1;
byte crashes = 1;
byte lostAnswers = 1;
byte lateWrites = 1;

/* Tables: request, queue_entry, lease. */
mtype:state state[REQUESTS] = IN_QUEUE;
bool entry[REQUESTS] = true;
byte attempt[REQUESTS];
byte losses[REQUESTS];
bool leased[REQUESTS];
byte leaseToken[REQUESTS];
byte leaseNode[REQUESTS];
/* The number of the start that made the lease. Nothing but the properties reads it. */
byte leaseStart[REQUESTS];
bool cancelRequested[REQUESTS];

/* Tables: node, slot_grant, model. */
bool member[NODES] = true;
byte slotGrant[NODES];
/* 1 or 2 from the beginning, or lowered from 2 to 1. */
byte concurrency;
byte slotRound;
/* The node that has the lock of the model's row. */
byte locker = NOBODY;

/* The memory of a node. */
bool crashed[NODES];
bool connected[NODES] = true;
byte granted[NODES];
byte limit[NODES];
byte used[NODES];
byte knownRound[NODES];
/* True: an answer of a claim was lost, so that leases of the node may belong to no run. */
bool mayHaveLostClaims[NODES];
mtype:phase claim[NODES] = IDLE;
byte claimRound[NODES];
byte claimed[NODES] = NOBODY;
byte claimedToken[NODES];
byte claimedStart[NODES];
/* True: the node was fenced since it sent the claim. */
bool claimIsVoid[NODES];
mtype:phase division[NODES] = IDLE;
byte retained[NODES];
byte othersSeen[NODES];
byte fairSeen[NODES];
byte roundSeen[NODES];
bool divisionIsVoid[NODES];

/* A node's run of a request, at [node * REQUESTS + request]. */
mtype:doing runs[4] = NO_RUN;
byte runToken[4];
byte runStart[4];
#define AT(n, r) ((n) * REQUESTS + (r))

/* A claim that its node has given up waiting for, and that the network still holds. */
byte lateClaim = NOBODY;
/* A write of a run's end that the network still holds: a copy, or one whose node is gone. */
mtype:kind lateWrite = NO_WRITE;
byte lateRequest;
byte lateToken;
byte lateStart;

/* What callers were told. */
bool cancelAccepted[REQUESTS];

/* The fair shares: both nodes one slot of two, or node 0 the only one. A node that is alone has all. */
#define FAIR(n) (member[OTHER(n)] -> (concurrency == 2 -> 1 : ((n) == 0 -> 1 : 0)) : concurrency)

/* True: the lease of `r` belongs to this run. */
#define HOLDS(n, r) (leased[r] && leaseNode[r] == (n) && leaseStart[r] == runStart[AT(n, r)])

/*
 * The leases that take a slot: of runs that execute, of claims whose answer the node will use, and those that a crashed
 * node has left. A lost claim takes none, nor does a run that was aborted.
 */
#define PENDS(n, r) (claim[n] == ANSWERED && claimed[n] == (r) && !claimIsVoid[n])
#define TAKES(n, r) (leased[r] && leaseNode[r] == (n) && state[r] == IN_PROGRESS \
  && (PENDS(n, r) || (runs[AT(n, r)] == EXECUTES && HOLDS(n, r))))
#define TAKEN_BY(n) ((TAKES(n, 0) -> 1 : 0) + (TAKES(n, 1) -> 1 : 0))
#define TAKEN (TAKEN_BY(0) + TAKEN_BY(1))

/* True: a run of the node has the token of the lease (Runs.holds). */
#define IS_OF_RUN(n, r) (runs[AT(n, r)] != NO_RUN && runToken[AT(n, r)] == leaseToken[r])

#define EXECUTING(n, r) (runs[AT(n, r)] == EXECUTES && !crashed[n])

/* Completes a request. Property: COMPLETED is final. `from` is the state that the verb starts from. */
inline complete(r, from) {
  if
  :: state[r] == from || !GUARD_STATE_ON_COMPLETE -> assert(state[r] != COMPLETED); state[r] = COMPLETED
  :: else
  fi
}

/* Puts a request back into the queue. */
inline returnToQueue(r, isGuarded) {
  if
  :: state[r] == IN_PROGRESS || !isGuarded ->
    assert(state[r] != COMPLETED);
    assert(!cancelAccepted[r]);
    state[r] = IN_QUEUE;
    entry[r] = true
  :: else
  fi
}

inline deleteLease(r) {
  leased[r] = false;
  leaseToken[r] = 0;
  leaseNode[r] = 0;
  leaseStart[r] = 0;
  cancelRequested[r] = false
}

/* finish.ts. Property: only the run that holds a lease ends it. `start` is for this property only. */
inline finish(r, token, start) {
  if
  :: leased[r] && (leaseToken[r] == token || !GUARD_TOKEN_ON_FINISH) ->
    assert(leaseStart[r] == start);
    deleteLease(r);
    complete(r, IN_PROGRESS)
  :: else
  fi
}

/* requeue.ts. A lease whose run is to stop stays, so that the run can end as cancelled. */
inline requeue(r, token, start) {
  if
  :: leased[r] && (leaseToken[r] == token || !GUARD_TOKEN_ON_REQUEUE) &&
      (!cancelRequested[r] || !GUARD_CANCEL_ON_REQUEUE) ->
    assert(leaseStart[r] == start);
    deleteLease(r);
    returnToQueue(r, GUARD_STATE_ON_REQUEUE)
  :: else
  fi
}

/* Rescuer.returnLostClaims for one lease. The requeue leaves a request that was cancelled, which then ends so. */
inline returnLostClaim(r) {
  requeue(r, leaseToken[r], leaseStart[r]);
  if
  :: leased[r] && GUARD_CANCEL_OF_LOST_CLAIM -> finish(r, leaseToken[r], leaseStart[r])
  :: else
  fi
}

/* claim.ts for one request. `isVoid`: the node was fenced since. `token`: that of the lease; 0: nothing started. */
inline take(n, r, isVoid, token) {
  entry[r] = false;
  if
  :: state[r] == IN_QUEUE || !GUARD_STATE_ON_CLAIM ->
    assert(state[r] != COMPLETED);
    /* Property: nothing starts once its cancel was accepted. */
    assert(!cancelAccepted[r]);
    /* Property: a start takes a slot within the concurrency, or a fair one while runs from before it was lowered go on. */
    assert(isVoid || TAKEN < concurrency || (slotRound > 0 && TAKEN_BY(n) < FAIR(n)));
    assert(!leased[r]);
    state[r] = IN_PROGRESS;
    attempt[r]++;
    leased[r] = true;
    token = (GUARD_TOKEN_OF_DISPATCH -> attempt[r] : n + 1);
    leaseToken[r] = token;
    leaseStart[r] = attempt[r];
    leaseNode[r] = n;
    cancelRequested[r] = false
  :: else -> token = 0
  fi
}

#define MAY_START(n, round) ((member[n] || !GUARD_MEMBER_ON_CLAIM) && (round == slotRound || !GUARD_ROUND_ON_CLAIM))

/* The node stops its runs and counts on no slot (Heartbeat.giveUpRuns). */
inline giveUpRuns(n) {
  if :: runs[AT(n, 0)] == EXECUTES -> runs[AT(n, 0)] = IS_ABORTED :: else fi;
  if :: runs[AT(n, 1)] == EXECUTES -> runs[AT(n, 1)] = IS_ABORTED :: else fi;
  granted[n] = 0;
  limit[n] = 0;
  if :: claim[n] != IDLE -> claimIsVoid[n] = true :: else fi;
  if :: division[n] != IDLE -> divisionIsVoid[n] = true :: else fi
}

inline endRun(n, r) {
  runs[AT(n, r)] = NO_RUN;
  runToken[AT(n, r)] = 0;
  runStart[AT(n, r)] = 0;
  used[n]--
}

/* A copy of a write may stay in the network: the node was told that it failed, or sent it twice. */
inline maybeLate(kind, r, token, start) {
  if
  :: true
  :: lateWrites > 0 && faults > 0 && lateWrite == NO_WRITE ->
    lateWrites--; faults--;
    lateWrite = kind;
    lateRequest = r;
    lateToken = token;
    lateStart = start
  fi
}

/* What a division would write for the node. */
#define FREE_FOR(n) (concurrency > slotGrant[OTHER(n)] -> concurrency - slotGrant[OTHER(n)] : 0)
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define KEPT(n) MIN(granted[n], used[n])
#define WOULD_GET(n) MAX(KEPT(n), MIN(FAIR(n), FREE_FOR(n)))
/* The node divides again each second until all is fair. A division that would change nothing is left out. */
#define IS_DUE(n) (slotGrant[n] != WOULD_GET(n) || limit[n] != MIN(FAIR(n), FREE_FOR(n)) \
  || granted[n] != slotGrant[n] || knownRound[n] != slotRound)

/* rescue.ts. The outcome, if any, is decided in the same statement. */
inline rescue(x) {
  losses[x]++;
  if
  :: (cancelRequested[x] && GUARD_CANCEL_ON_RESCUE) || losses[x] >= LOST_LIMIT ->
    deleteLease(x);
    complete(x, IN_PROGRESS)
  :: else ->
    deleteLease(x);
    returnToQueue(x, GUARD_STATE_ON_RESCUE)
  fi
}

proctype Node(byte n) {
  byte r;
  byte token;
end:
  do
  /*
   * The node divides slots: it locks the model's row, and reads nodes and grants. It starts no run beyond what it
   * retains until it has the answer.
   */
  :: atomic {
      !crashed[n] && connected[n] && member[n] && division[n] == IDLE && claim[n] == IDLE && IS_DUE(n) &&
        (locker == NOBODY || !GUARD_GRANT_LOCK) ->
      retained[n] = (GUARD_GRANT_RETAINED -> KEPT(n) : 0);
      granted[n] = KEPT(n);
      limit[n] = MIN(granted[n], limit[n]);
      locker = n;
      othersSeen[n] = slotGrant[OTHER(n)];
      fairSeen[n] = FAIR(n);
      roundSeen[n] = slotRound;
      division[n] = ANSWERED;
      divisionIsVoid[n] = false
    }
  /* It writes its grant and commits. The answer is void if the node was fenced meanwhile. */
  :: atomic {
      division[n] == ANSWERED ->
      r = (concurrency > othersSeen[n] -> concurrency - othersSeen[n] : 0);
      r = (GUARD_GRANT_OF_FREE -> MIN(fairSeen[n], r) : fairSeen[n]);
      slotGrant[n] = MAX(retained[n], r);
      /* Property: the grants of nodes never exceed the concurrency, but for runs from before it was lowered. */
      assert(slotGrant[0] + slotGrant[1] <= concurrency || slotGrant[n] == retained[n]);
      if
      :: !divisionIsVoid[n] && !crashed[n] ->
        granted[n] = slotGrant[n];
        limit[n] = (GUARD_LIMIT_OF_FREE -> r : MIN(granted[n], fairSeen[n]));
        /* Property: runs from before the concurrency was lowered keep new ones from starting, also at another node. */
        assert(limit[n] == 0 || limit[n] + slotGrant[OTHER(n)] <= concurrency);
        knownRound[n] = roundSeen[n]
      :: else
      fi;
      division[n] = IDLE;
      if :: locker == n -> locker = NOBODY :: else fi;
      retained[n] = 0; othersSeen[n] = 0; fairSeen[n] = 0; roundSeen[n] = 0; divisionIsVoid[n] = false; r = 0
    }

  /* The node takes a free slot, and sends a claim. */
  :: atomic {
      !crashed[n] && connected[n] && claim[n] == IDLE && division[n] == IDLE && (entry[0] || entry[1]) &&
        (used[n] < limit[n] || (!GUARD_FREE_SLOT_ON_CLAIM && used[n] < 2)) && knownRound[n] == slotRound ->
      used[n]++;
      claim[n] = SENT;
      claimRound[n] = knownRound[n];
      claimIsVoid[n] = false
    }
  /* The claim reaches the database, also if its node has crashed since. */
  :: atomic {
      claim[n] == SENT ->
      claimed[n] = NOBODY;
      token = 0;
      if
      :: MAY_START(n, claimRound[n]) && entry[0] -> r = 0; take(n, 0, claimIsVoid[n], token)
      :: MAY_START(n, claimRound[n]) && entry[1] -> r = 1; take(n, 1, claimIsVoid[n], token)
      :: !MAY_START(n, claimRound[n]) || (!entry[0] && !entry[1])
      fi;
      if :: token != 0 -> claimed[n] = r; claimedToken[n] = token; claimedStart[n] = attempt[r] :: else fi;
      claim[n] = ANSWERED;
      r = 0; token = 0
    }
  /* The node reads the answer. It returns what it must not run any more. An earlier run of the request ends before. */
  :: atomic {
      !crashed[n] && claim[n] == ANSWERED && (claimed[n] == NOBODY || runs[AT(n, claimed[n] % 2)] == NO_RUN) ->
      if
      :: claimed[n] == NOBODY -> used[n]--
      :: else ->
        r = claimed[n];
        runToken[AT(n, r)] = claimedToken[n];
        runStart[AT(n, r)] = claimedStart[n];
        if
        :: (!claimIsVoid[n] && connected[n]) || !GUARD_ANSWER_OF_OLD_GRANT ->
          /* Properties: one run of a request at a time, and never more than the concurrency. */
          assert(!EXECUTING(OTHER(n), r));
          runs[AT(n, r)] = EXECUTES
        :: else -> runs[AT(n, r)] = IS_ABORTED
        fi
      fi;
      claim[n] = IDLE; claimed[n] = NOBODY; claimedToken[n] = 0; claimedStart[n] = 0; claimIsVoid[n] = false; claimRound[n] = 0; r = 0
    }
  /* The answer is lost. The node frees the slot, and suspects that it has leases without runs. */
  :: atomic {
      !crashed[n] && claim[n] == ANSWERED && lostAnswers > 0 && faults > 0 ->
      lostAnswers--; faults--;
      mayHaveLostClaims[n] = true;
      used[n]--;
      claim[n] = IDLE; claimed[n] = NOBODY; claimedToken[n] = 0; claimedStart[n] = 0; claimIsVoid[n] = false; claimRound[n] = 0
    }
  /* The network holds the claim back until its node no longer waits for it. */
  :: atomic {
      !crashed[n] && claim[n] == SENT && lostAnswers > 0 && faults > 0 && lateClaim == NOBODY ->
      lostAnswers--; faults--;
      mayHaveLostClaims[n] = true;
      used[n]--;
      lateClaim = n;
      claim[n] = IDLE; claimIsVoid[n] = false; claimRound[n] = 0
    }
  /* Rescuer.returnLostClaims: it looks for leases that belong to no run, once no claim can be under way any more. */
  :: atomic {
      !crashed[n] && connected[n] && mayHaveLostClaims[n] && claim[n] == IDLE && GUARD_LOST_CLAIM_LOOK ->
      mayHaveLostClaims[n] = false;
      if
      :: leased[0] && leaseNode[0] == n && !IS_OF_RUN(n, 0) -> returnLostClaim(0)
      :: else
      fi;
      if
      :: leased[1] && leaseNode[1] == n && !IS_OF_RUN(n, 1) -> returnLostClaim(1)
      :: else
      fi
    }

  /* A run ends: with an output, as cancelled, or for good as failed. */
  :: atomic {
      !crashed[n] && runs[AT(n, 0)] == EXECUTES ->
      finish(0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      maybeLate(FINISH, 0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      endRun(n, 0)
    }
  :: atomic {
      !crashed[n] && runs[AT(n, 1)] == EXECUTES ->
      finish(1, runToken[AT(n, 1)], runStart[AT(n, 1)]);
      maybeLate(FINISH, 1, runToken[AT(n, 1)], runStart[AT(n, 1)]);
      endRun(n, 1)
    }
  /* A run fails and may be tried again. A requeue that changes nothing is followed by a finish (RunEnds.complete). */
  :: atomic {
      !crashed[n] && runs[AT(n, 0)] == EXECUTES && failures > 0 && faults > 0 ->
      failures--; faults--;
      requeue(0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      finish(0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      maybeLate(REQUEUE, 0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      endRun(n, 0)
    }
  /* The node returns a run that it has stopped, or ends it as cancelled. */
  :: atomic {
      !crashed[n] && runs[AT(n, 0)] == IS_ABORTED ->
      requeue(0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      finish(0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      maybeLate(REQUEUE, 0, runToken[AT(n, 0)], runStart[AT(n, 0)]);
      endRun(n, 0)
    }
  :: atomic {
      !crashed[n] && runs[AT(n, 1)] == IS_ABORTED ->
      requeue(1, runToken[AT(n, 1)], runStart[AT(n, 1)]);
      finish(1, runToken[AT(n, 1)], runStart[AT(n, 1)]);
      maybeLate(REQUEUE, 1, runToken[AT(n, 1)], runStart[AT(n, 1)]);
      endRun(n, 1)
    }

  /* 5 s without a heartbeat: the node fences itself. */
  :: atomic {
      !crashed[n] && connected[n] && lateBeats > 0 && faults > 0 ->
      lateBeats--; faults--;
      connected[n] = false;
      if :: GUARD_FENCE_BEFORE_RESCUE -> giveUpRuns(n) :: else fi
    }
  /* A heartbeat arrives again. A node that was given up stops its runs and registers again. */
  :: atomic {
      !crashed[n] && !connected[n] ->
      if :: !member[n] -> giveUpRuns(n); member[n] = true :: else fi;
      connected[n] = true
    }
  /* The node crashes while the other lives. */
  :: atomic {
      !crashed[n] && crashes > 0 && faults > 0 && !crashed[OTHER(n)] ->
      crashes--; faults--;
      crashed[n] = true;
      connected[n] = false;
      if :: locker == n -> locker = NOBODY :: else fi;
      if :: division[n] == ANSWERED -> division[n] = IDLE :: else fi
    }

  /* Rescuer.rescueFromNodes, three statements. First, 6 s without a heartbeat: give up the other node. */
  :: atomic {
      !crashed[n] && connected[n] && member[OTHER(n)] && !connected[OTHER(n)] ->
      member[OTHER(n)] = false
    }
  /* Second, take the leases of nodes that are gone. */
  :: atomic {
      !crashed[n] && connected[n] && leased[0] && !member[leaseNode[0]] -> rescue(0)
    }
  :: atomic {
      !crashed[n] && connected[n] && leased[1] && !member[leaseNode[1]] -> rescue(1)
    }
  /* Third, drop the grants of nodes that are gone and have no lease left. */
  :: atomic {
      !crashed[n] && connected[n] && !member[OTHER(n)] && slotGrant[OTHER(n)] > 0 &&
        (!GUARD_GRANT_AFTER_LEASES ||
            (!(leased[0] && leaseNode[0] == OTHER(n)) && !(leased[1] && leaseNode[1] == OTHER(n)))) ->
      slotGrant[OTHER(n)] = 0
    }
  od
}

/* A cancel of request 0: a snapshot, then the writes. A snapshot that has become old is followed by another. */
proctype Caller() {
  bool sawEntry;
  byte sawStart;
  mtype:state sawState;
again:
  atomic {
    sawEntry = entry[0];
    sawStart = (leased[0] -> leaseStart[0] : 0);
    sawState = state[0]
  }
  atomic {
    if
    :: sawEntry && entry[0] -> entry[0] = false; complete(0, IN_QUEUE); cancelAccepted[0] = true
    :: !(sawEntry && entry[0]) && sawStart != 0 && leased[0] && leaseStart[0] == sawStart ->
      cancelRequested[0] = true;
      cancelAccepted[0] = true
    :: !(sawEntry && entry[0]) && !(sawStart != 0 && leased[0] && leaseStart[0] == sawStart) ->
      if
      :: sawState == COMPLETED
      :: sawState != COMPLETED && GUARD_CANCEL_AGAIN -> goto again
      :: else -> cancelAccepted[0] = true
      fi
    fi
  }
}

/* An operator lowers the concurrency from 2 to 1, once. */
proctype Operator() {
  if
  :: atomic { faults > 0 && concurrency == 2 && locker == NOBODY -> faults--; concurrency = 1; slotRound = 1 }
  :: true
  fi
}

inline startLate(x) {
  entry[x] = false;
  if
  :: state[x] == IN_QUEUE ->
    state[x] = IN_PROGRESS;
    attempt[x]++;
    leased[x] = true;
    leaseToken[x] = attempt[x];
    leaseStart[x] = attempt[x];
    leaseNode[x] = lateClaim
  :: else
  fi
}

/* What the network has held back arrives at any time, or never. */
proctype Network() {
end:
  do
  :: atomic {
      lateClaim != NOBODY ->
      if
      :: !GUARD_TIME_ON_CLAIM && MAY_START(lateClaim, slotRound) && entry[1] -> startLate(1)
      :: !GUARD_TIME_ON_CLAIM && MAY_START(lateClaim, slotRound) && entry[0] -> startLate(0)
      :: true
      fi;
      lateClaim = NOBODY
    }
  :: atomic {
      lateWrite != NO_WRITE ->
      if
      :: lateWrite == FINISH -> finish(lateRequest, lateToken, lateStart)
      :: lateWrite == REQUEUE -> requeue(lateRequest, lateToken, lateStart)
      fi;
      lateWrite = NO_WRITE; lateRequest = 0; lateToken = 0; lateStart = 0
    }
  od
}

/* A wrong row, as after a repair by hand: completed request 0 has an entry in the queue again, or a lease. */
proctype Strays() {
end:
  atomic {
    faults > 0 && state[0] == COMPLETED && !entry[0] && !leased[0] ->
    faults--;
    if
    :: entry[0] = true
    :: attempt[0] > 0 ->
      leased[0] = true;
      leaseToken[0] = attempt[0];
      leaseStart[0] = attempt[0];
      if :: leaseNode[0] = 0 :: leaseNode[0] = 1 fi
    fi
  }
}

#define LIVES(n) (!crashed[n])
/* A lease that has an end in sight: its run, its claim's answer, a look for lost claims, or the loss of its node. */
#define HAS_END(r) (!leased[r] || state[r] == COMPLETED || !LIVES(leaseNode[r]) || !member[leaseNode[r]] \
  || runs[AT(leaseNode[r], r)] != NO_RUN || (claim[leaseNode[r]] == ANSWERED && claimed[leaseNode[r]] == r) \
  || mayHaveLostClaims[leaseNode[r]])

/* What holds when nothing can happen any more: nothing waits for ever, and slots have come back. */
proctype Watch() {
  atomic {
    timeout ->
    /* A lease past its deadline is rescued, but none should wait for that. */
    assert(HAS_END(0) && HAS_END(1));
    assert(state[0] == COMPLETED);
    assert(state[1] == COMPLETED);
    assert(crashed[0] || used[0] == 0);
    assert(crashed[1] || used[1] == 0);
    assert(locker == NOBODY);
    assert((crashed[0] -> 0 : limit[0]) + (crashed[1] -> 0 : limit[1]) == concurrency)
  }
}

init {
  c_code {
    char *name = getenv("GUARD_OFF");
    if (name != NULL) now.off = atoi(name);
  };
  atomic {
    if :: concurrency = 1 :: concurrency = 2 fi;
    run Node(0);
    run Node(1);
    run Caller();
    run Operator();
    run Network();
    run Strays();
    run Watch()
  }
}

import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { serviceAddress } from './api/base';
import { type Live, useLive } from './api/live';
import type { SignedIn } from './api/types';
import { counted } from './format/quantities';
import { Dialog } from './parts/dialog';
import { Time } from './parts/time';
import { markRow, moveRow, useKeys } from './parts/keyboard';
import { isRunning, nodeWord } from './parts/node-state';
import { may } from './parts/rights';
import { SignOut } from './parts/sign-out';
import { currentTheme, showTheme, type Theme, themes } from './parts/theme';
import { askForSearch, scrollToPlace } from './parts/travel';

const views = [
  ['/', 'Overview'],
  ['/requests', 'Requests'],
  ['/batches', 'Batches'],
  ['/try', 'Try'],
  ['/keys', 'Keys'],
  ['/nodes', 'Nodes'],
  ['/webhooks', 'Webhooks'],
  ['/audit', 'Audit'],
] as const;

export function Shell({ session, children }: { session: SignedIn; children: ReactNode }) {
  const live = useLive();
  const [location, navigate] = useLocation();
  const [isHelping, setHelping] = useState(false);
  useKeys({
    '/': () => {
      if (document.querySelector('[data-search]') === null) navigate('/requests');
      askForSearch();
    },
    j: () => moveRow(1),
    k: () => moveRow(-1),
    x: markRow,
    '?': () => setHelping(true),
  });
  useEffect(() => {
    const heading = document.querySelector('main h1')?.textContent;
    document.title = heading ? `${heading} · Now Serving` : 'Now Serving';
  });
  useEffect(() => {
    for (const open of document.querySelectorAll<HTMLElement>('[popover]:popover-open')) open.hidePopover();
    scrollToPlace();
  }, [location]);
  const isCurrent = (path: string): boolean =>
    path === '/' ? location === '/' || location.startsWith('/models') : location.startsWith(path);
  const links = views.map(([path, name]) => (
    <Link key={path} href={path} aria-current={isCurrent(path) ? 'page' : undefined}>
      {name}
    </Link>
  ));
  return (
    <>
      <header className="bar">
        <div>
          <Link href="/" className="brand">
            Now Serving
          </Link>
          <nav className="nav" aria-label="Views">
            {links}
          </nav>
          <span className="end">
            <Nodes {...live} />
            <button type="button" className="plain only-phone" popoverTarget="views">
              Menu
            </button>
            <button type="button" className="plain" popoverTarget="account">
              {session.name}
            </button>
          </span>
        </div>
      </header>
      <nav className="menu" id="views" popover="auto" aria-label="All views">
        {links}
      </nav>
      <Account session={session} onHelp={() => setHelping(true)} />
      <Outage {...live} />
      {live.trouble === undefined && live.diskFault !== undefined && (
        <p className="offline bad" role="status">
          <b>{live.diskFault}</b>
        </p>
      )}
      {children}
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </>
  );
}

/** Shows why the figures are not current, since when, and what still works. */
function Outage({ trouble, readAt }: Live) {
  if (trouble === undefined) return null;
  const { what, since } = trouble;
  return (
    <p className={what === 'figures' ? 'offline' : 'offline bad'} role="status">
      {what === 'service' && (
        <>
          <b>No connection to the service.</b> It has not answered since <Time at={since} />. The page
          reconnects automatically.
        </>
      )}
      {what === 'database' && (
        <>
          <b>The service cannot reach its database</b> since <Time at={since} />. It answers calls with 503
          and starts no requests. Accepted requests are kept. It continues when the database answers.
        </>
      )}
      {what === 'figures' && <b>This page gets no figures, though the service and its database answer.</b>}
      <br />
      {readAt === undefined ? (
        'There are no figures yet.'
      ) : (
        <>
          All figures are as of <Time at={readAt} />.
        </>
      )}
    </p>
  );
}

function Nodes({ overview, trouble, diskFault }: Live) {
  if (overview === undefined) return null;
  const { nodes } = overview;
  if (trouble !== undefined) {
    return (
      <Link href="/nodes" className="nodes-trouble">
        {trouble.what === 'service' ? 'not connected' : counted(nodes.length, 'node')}
        {trouble.what === 'database' && ' · no database'}
        {trouble.what === 'figures' && ' · figures are old'}
      </Link>
    );
  }
  const others = nodes.filter(({ state }) => state !== 'ready');
  const said = [
    ...(nodes.some(isRunning) ? [] : ['no node runs requests']),
    ...others.map(({ name, state }) => `${name} ${nodeWord(state)}`),
    ...(diskFault === undefined ? [] : ['disk fault']),
  ].join(', ');
  if (said === '') {
    return (
      <Link href="/nodes" className="muted only-desk">
        {counted(nodes.length, 'node')} · {nodes.length === 1 ? 'ready' : 'all ready'}
      </Link>
    );
  }
  // Also shown on a phone.
  return (
    <Link href="/nodes" className="nodes-trouble">
      <span className="only-desk">{counted(nodes.length, 'node')} · </span>
      {said}
    </Link>
  );
}

function Account({ session, onHelp }: { session: SignedIn; onHelp: () => void }) {
  const [theme, setTheme] = useState<Theme>(currentTheme);
  return (
    <section className="menu" id="account" popover="auto" aria-label="Account">
      <p className="small muted">
        {session.name}
        <br />
        {session.scopes.join(', ')}
        {!may(session, 'admin') && (
          <>
            <br />
            Changes need a key with the scope “admin”.
          </>
        )}
      </p>
      <hr />
      <Link href="/sessions">Sessions</Link>
      <a href={serviceAddress('docs')}>API description</a>
      <button type="button" popoverTarget="account" popoverTargetAction="hide" onClick={onHelp}>
        Keyboard shortcuts
      </button>
      <button
        type="button"
        onClick={() => {
          const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
          setTheme(next);
          showTheme(next);
        }}
      >
        Theme: {theme === 'auto' ? 'system' : theme}
      </button>
      <hr />
      <SignOut />
    </section>
  );
}

const keys = [
  ['/', 'search'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['← →', 'move along a queue or a timeline'],
  ['?', 'show this list'],
] as const;

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="stack">
        {keys.map(([key, does]) => (
          <div className="row" key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, type ComponentType } from "react";
import { Route, Switch, useLocation } from "wouter";
import { queryClient } from "../api/queries";
import { Failure } from "../parts/Failure";
import { Toasts } from "../parts/toasts";
import { Waiting, WaitingFrame } from "../parts/Wait";
import { addresses } from "./addresses";
import { Boundary } from "./Boundary";
import { serves } from "./serves";
import { SignedIn } from "./session";
import { ToLogin } from "./ToLogin";

const Shell = lazy(() => import("./Shell"));
const Start = lazy(() => import("../screens/start/Start"));
const NotFound = lazy(() => import("../screens/start/NotFound"));

/** Pages for everybody. */
const outside: [keyof typeof addresses, ComponentType][] = [
  ["login", lazy(() => import("../screens/sign-in/Login"))],
  ["signup", lazy(() => import("../screens/sign-in/Signup"))],
  ["verifyEmail", lazy(() => import("../screens/sign-in/VerifyEmail"))],
  ["resetPassword", lazy(() => import("../screens/sign-in/ResetPassword"))],
  ["invitation", lazy(() => import("../screens/invitation/Invitation"))],
  ["shared", lazy(() => import("../screens/shared/Shared"))],
  ["connect", lazy(() => import("../screens/connect/Connect"))],
];

/** Pages for people who are signed in, within the shell. */
const inside: [keyof typeof addresses, ComponentType][] = [
  ["boards", lazy(() => import("../screens/boards/Boards"))],
  ["board", lazy(() => import("../screens/board/BoardPage"))],
  ["card", lazy(() => import("../screens/board/CardPage"))],
  ["inbox", lazy(() => import("../screens/inbox/Inbox"))],
  ["queues", lazy(() => import("../screens/queues/Queues"))],
  ["agents", lazy(() => import("../screens/agents/Agents"))],
  ["agent", lazy(() => import("../screens/agents/Agent"))],
  ["members", lazy(() => import("../screens/members/Members"))],
  ["webhooks", lazy(() => import("../screens/webhooks/Webhooks"))],
  ["webhook", lazy(() => import("../screens/webhooks/Webhook"))],
  ["automations", lazy(() => import("../screens/automations/Automations"))],
  ["outbox", lazy(() => import("../screens/outbox/Outbox"))],
  ["audit", lazy(() => import("../screens/audit/Audit"))],
  ["trash", lazy(() => import("../screens/trash/Trash"))],
  ["feedback", lazy(() => import("../screens/feedback/Feedback"))],
  ["server", lazy(() => import("../screens/server/Server"))],
  ["account", lazy(() => import("../screens/account/Account"))],
];

const needsOf = (name: keyof typeof addresses) => (addresses[name] as { needs?: string }).needs;

function Inside() {
  const [path] = useLocation();
  return (
    <SignedIn
      outside={<ToLogin />}
      waiting={<WaitingFrame />}
      failed={(error, retry) => <div style={{ padding: "2rem" }}><Failure error={error} retry={retry} /></div>}
    >
      <Suspense fallback={<WaitingFrame />}>
        <Shell>
          <Boundary key={path}>
            <Suspense fallback={<div className="boot"><Waiting /></div>}>
              <Switch>
                {inside.filter(([name]) => serves(needsOf(name))).map(([name, Screen]) => (
                  <Route key={name} path={addresses[name].path}><Screen /></Route>
                ))}
                <Route><NotFound /></Route>
              </Switch>
            </Suspense>
          </Boundary>
        </Shell>
      </Suspense>
    </SignedIn>
  );
}

const rootOf = (path: string) => path.split("/")[1] ?? "";
const insideRoots = new Set(inside.filter(([name]) => serves(needsOf(name))).map(([name]) => rootOf(addresses[name].path)));

function Pages() {
  const [path] = useLocation();
  // One shell for all of them: it stays while they change.
  if (insideRoots.has(rootOf(path))) return <Inside />;
  return (
    <Switch>
      <Route path="/"><Start /></Route>
      {outside.filter(([name]) => serves(needsOf(name))).map(([name, Screen]) => (
        <Route key={name} path={addresses[name].path}><Screen /></Route>
      ))}
      <Route><NotFound alone /></Route>
    </Switch>
  );
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Boundary><Suspense fallback={<div className="boot"><Waiting /></div>}><Pages /></Suspense></Boundary>
      <Toasts />
    </QueryClientProvider>
  );
}

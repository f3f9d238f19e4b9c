import { QueryClientProvider } from "@tanstack/react-query";
import { useLayoutEffect, type ComponentType } from "react";
import { matchRoute, Route, Switch, useLocation, useRouter } from "wouter";
import { hasSession } from "../api/client";
import { queryClient } from "../api/queries";
import { Failure } from "../parts/Failure";
import { lazy } from "../parts/lazy";
import { Toasts } from "../parts/toasts";
import { Waiting, WaitingFrame } from "../parts/Wait";
import { addresses } from "./addresses";
import { Boundary } from "./Boundary";
import { serves } from "./serves";
import { SignedIn } from "./session";
import { ToLogin } from "./ToLogin";

const Shell = lazy(() => import("./Shell"), <WaitingFrame />);
const waiting = <div className="boot"><Waiting /></div>;
const screen = (load: () => Promise<{ default: ComponentType }>) => lazy(load, waiting);
const Start = screen(() => import("../screens/start/Start"));
const NotFound = lazy(() => import("../screens/start/NotFound"), waiting);

type Page = [keyof typeof addresses, ReturnType<typeof screen>];
/** Those that this server has. */
const served = (pages: Page[]) => pages.filter(([name]) => serves((addresses[name] as { needs?: string }).needs));

/** Pages for everybody. */
const outside = served([
  ["login", screen(() => import("../screens/sign-in/Login"))],
  ["signup", screen(() => import("../screens/sign-in/Signup"))],
  ["verifyEmail", screen(() => import("../screens/sign-in/VerifyEmail"))],
  ["resetPassword", screen(() => import("../screens/sign-in/ResetPassword"))],
  ["invitation", screen(() => import("../screens/invitation/Invitation"))],
  ["shared", screen(() => import("../screens/shared/Shared"))],
  ["connect", screen(() => import("../screens/connect/Connect"))],
]);

/** Pages for people who are signed in, within the shell. */
const inside = served([
  ["boards", screen(() => import("../screens/boards/Boards"))],
  ["board", screen(() => import("../screens/board/BoardPage"))],
  ["card", screen(() => import("../screens/board/CardPage"))],
  ["inbox", screen(() => import("../screens/inbox/Inbox"))],
  ["queues", screen(() => import("../screens/queues/Queues"))],
  ["agents", screen(() => import("../screens/agents/Agents"))],
  ["agent", screen(() => import("../screens/agents/Agent"))],
  ["members", screen(() => import("../screens/members/Members"))],
  ["webhooks", screen(() => import("../screens/webhooks/Webhooks"))],
  ["webhook", screen(() => import("../screens/webhooks/Webhook"))],
  ["automations", screen(() => import("../screens/automations/Automations"))],
  ["outbox", screen(() => import("../screens/outbox/Outbox"))],
  ["audit", screen(() => import("../screens/audit/Audit"))],
  ["trash", screen(() => import("../screens/trash/Trash"))],
  ["feedback", screen(() => import("../screens/feedback/Feedback"))],
  ["server", screen(() => import("../screens/server/Server"))],
  ["account", screen(() => import("../screens/account/Account"))],
]);

function Inside() {
  const [path] = useLocation();
  const { parser } = useRouter();
  useLayoutEffect(() => { // while it is asked who is signed in
    if (!hasSession()) return;
    Shell.preload();
    inside.find(([name]) => matchRoute(parser, addresses[name].path, path)[0])?.[1].preload();
  }, []);
  return (
    <SignedIn
      outside={<ToLogin />}
      waiting={<WaitingFrame />}
      failed={(error, retry) => <div style={{ padding: "2rem" }}><Failure error={error} retry={retry} /></div>}
    >
      <Shell>
        <Boundary key={path}>
          <Switch>
            {inside.map(([name, Screen]) => (
              <Route key={name} path={addresses[name].path}><Screen /></Route>
            ))}
            <Route><NotFound /></Route>
          </Switch>
        </Boundary>
      </Shell>
    </SignedIn>
  );
}

const rootOf = (path: string) => path.split("/")[1] ?? "";
const insideRoots = new Set(inside.map(([name]) => rootOf(addresses[name].path)));

function Pages() {
  const [path] = useLocation();
  // One shell for all of them: it stays while they change.
  if (insideRoots.has(rootOf(path))) return <Inside />;
  return (
    <Switch>
      <Route path="/"><Start /></Route>
      {outside.map(([name, Screen]) => (
        <Route key={name} path={addresses[name].path}><Screen /></Route>
      ))}
      <Route><NotFound alone /></Route>
    </Switch>
  );
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Boundary><Pages /></Boundary>
      <Toasts />
    </QueryClientProvider>
  );
}

import { Redirect, useLocation } from "wouter";

/** To the page for signing in, and from there back to this one. */
export function ToLogin() {
  const [path] = useLocation();
  return <Redirect to={`/login?return_to=${encodeURIComponent(path + location.search)}`} replace />;
}

import { Component, type ReactNode } from "react";
import { Failure } from "../parts/Failure";
import { t } from "./words";

/** What goes wrong while something is shown ends here, and can be tried again. */
export class Boundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    // A part of the console that is not there any more: the server has a newer one.
    const outdated = error instanceof Error && /imported module|importing a module|preload css/i.test(error.message);
    return (
      <div style={{ padding: "2rem", display: "grid", gap: "1rem" }}>
        <h1>{t("This did not work")}</h1>
        {outdated && <p>{t("The server has a newer console than this page; load it again.")}</p>}
        <Failure error={error} retry={() => (outdated ? location.reload() : this.setState({ error: undefined }))} />
      </div>
    );
  }
}

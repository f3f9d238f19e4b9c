import { Dialog } from "../parts/Dialog";
import { keyName, useAllCommands } from "./commands";
import { t } from "./words";

/** Every key that does something on this page. */
export default function Keys({ onClose }: { onClose: () => void }) {
  const commands = useAllCommands().filter(({ keys }) => keys?.length);
  const groups = [...new Set(commands.map(({ group }) => group))];
  return (
    <Dialog title={t("Keys")} onClose={onClose} wide>
      <p className="soft">{t("Single keys work while nothing is being written. Your account can switch them off.")}</p>
      <div className="keys">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {commands.filter((each) => each.group === group).map((each) => (
                <div key={each.id}>
                  <dt>{each.label}</dt>
                  <dd>{each.keys!.map((one) => <kbd key={one}>{keyName(one)}</kbd>)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

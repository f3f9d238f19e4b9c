/** The console's addresses: each is a page of the server, where it serves what the page needs. */
export interface Address {
  /** Of wouter; the build makes a page of each, `:id` as the page of every name. */
  path: string;
  /** An operation without which there is no such page. */
  needs?: string;
}

export const addresses = {
  start: { path: "/" },
  login: { path: "/login", needs: "log_in" },
  signup: { path: "/signup", needs: "sign_up" },
  verifyEmail: { path: "/verify-email", needs: "verify_email" },
  resetPassword: { path: "/reset-password", needs: "request_password_reset" },
  invitation: { path: "/invitations/:id", needs: "get_invitation_preview" },
  shared: { path: "/shared/:token", needs: "get_shared_board" },
  connect: { path: "/oauth/authorize", needs: "allow_authorization" },
  boards: { path: "/boards", needs: "list_boards" },
  board: { path: "/boards/:id", needs: "get_board_snapshot" },
  card: { path: "/cards/:id", needs: "get_card" },
  inbox: { path: "/inbox", needs: "list_notifications" },
  queues: { path: "/queues", needs: "list_queues" },
  agents: { path: "/agents", needs: "list_agents" },
  agent: { path: "/agents/:id", needs: "get_agent" },
  members: { path: "/members", needs: "list_members" },
  webhooks: { path: "/webhooks", needs: "list_webhooks" },
  webhook: { path: "/webhooks/:id", needs: "get_webhook" },
  automations: { path: "/automations", needs: "list_automations" },
  outbox: { path: "/outbox", needs: "list_email_outbox" },
  audit: { path: "/audit", needs: "list_audit_events" },
  trash: { path: "/trash", needs: "list_boards" },
  feedback: { path: "/feedback", needs: "create_feedback" },
  server: { path: "/server", needs: "get_server_status" },
  account: { path: "/account", needs: "get_me" },
} satisfies Record<string, Address>;

/** What the pages ask of `serves` besides. */
export const asked = ["/docs", "/v1/mcp/manifest", "sign_up", "claim_next_card", "search", "list_block_children", "get_my_surveys", "list_attachments", "get_agent_work"];

/** Every name that a page or a menu depends on. */
export const names = [...new Set([...Object.values(addresses as Record<string, Address>).flatMap(({ needs }) => needs ?? []), ...asked])];

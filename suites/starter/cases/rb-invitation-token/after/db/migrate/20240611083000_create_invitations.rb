# frozen_string_literal: true

# One row for each mailed invitation. The row stays after the invitation was
# accepted, so that the members page can say who brought whom in.
class CreateInvitations < ActiveRecord::Migration[7.1]
  def change
    create_table :invitations do |t|
      t.references :workspace, null: false, foreign_key: true
      t.references :invited_by, null: false, foreign_key: { to_table: :users }

      # Where the link was sent to, and what the holder becomes.
      t.string :email, null: false
      t.string :role, null: false, default: "guest"

      # The language the mail is written in.
      t.string :locale, null: false, default: "en"

      # The secret part of the link, looked up by InvitationsController#accept.
      t.string :token, null: false

      # Empty while the invitation is pending.
      t.datetime :accepted_at

      t.timestamps
    end

    # The members page lists pending invitations by workspace and address.
    add_index :invitations, %i[workspace_id email]
    add_index :invitations, :token
  end
end

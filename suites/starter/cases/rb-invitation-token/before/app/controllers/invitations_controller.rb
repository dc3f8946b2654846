# frozen_string_literal: true

# Lets an administrator of a workspace ask for colleagues to be let in by hand.
class InvitationsController < ApplicationController
  before_action :authenticate_user!
  before_action :require_workspace_admin!

  def create
    SupportMailer.access_request(
      workspace: current_workspace,
      requested_by: current_user,
      email: params.require(:email)
    ).deliver_later
    redirect_to workspace_members_path(current_workspace), notice: "We will write to them."
  end
end

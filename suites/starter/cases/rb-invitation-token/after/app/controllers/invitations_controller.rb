# frozen_string_literal: true

# Lets members of a workspace invite colleagues by mail, and lets the invited in.
# Members may invite guests and members; only administrators may invite administrators.
class InvitationsController < ApplicationController
  before_action :authenticate_user!
  before_action :require_workspace_member!, only: :create

  def create
    invitation = current_workspace.invitations.build(invitation_params)
    invitation.invited_by = current_user

    if invitation.save
      InvitationMailer.invite(invitation).deliver_later
      redirect_to workspace_members_path(current_workspace), notice: "Invitation sent."
    else
      flash.now[:alert] = invitation.errors.full_messages.to_sentence
      render "members/index", status: :unprocessable_entity
    end
  end

  def accept
    invitation = Invitation.pending.find_by!(token: params.require(:token))
    invitation.accept!(current_user)
    redirect_to workspace_path(invitation.workspace), notice: "Welcome."
  end

  private

  def invitation_params
    params.require(:invitation).permit!
  end
end

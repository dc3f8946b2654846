# frozen_string_literal: true

# A team's shared space. Roles of a membership are "guest", "member" and "admin".
class Workspace < ApplicationRecord
  has_many :memberships, dependent: :destroy
  has_many :invitations, dependent: :destroy
  has_many :users, through: :memberships

  validates :name, presence: true
end
